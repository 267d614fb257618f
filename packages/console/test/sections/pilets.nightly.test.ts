// The pilets section: files are uploaded by button and by drag and drop, every problem is explained at its file, and
// versions are enabled, pinned and previewed.
import { randomBytes } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { setLayer } from '../../../manager/test/kit/pilet-rows.ts'
import { seedPilet } from '../../../manager/test/kit/stored-pilets.ts'
import { expectFocus } from '../kit/focus.ts'
import { type PackedFile, chooseFiles, dropFiles, findUpload, pack, toFile } from '../kit/pilet-packages.ts'
import { dropResponse } from '../kit/requests.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

// A small limit keeps the files of the tests small.
const maxBytes = 1_048_576
const scene = useConsole({ env: { SVC_PILETS_MAX_UPLOAD_BYTES: String(maxBytes) } })
const path = '/p/main/pilets'

let dora: Person
beforeAll(async () => {
  dora = await scene.member('Dora Developer', 'developer')
})

const button = (of: Page | Locator, name: string | RegExp): Locator =>
  of.getByRole('button', { name, exact: true })
const panelOf = (page: Page): Locator => page.getByRole('complementary')
const findRow = (page: Page, version: string): Locator =>
  page.getByRole('row').filter({ has: page.getByText(version, { exact: true }) })
const dialogOf = (page: Page): Locator => page.getByRole('dialog')

async function open(search = '', person = dora): Promise<Page> {
  const { page, open: go } = await scene.visit(person)
  await go(path + search)
  await waitForPage(page)
  return page
}

/** Opens the dialog and chooses files. */
async function choose(page: Page, ...files: PackedFile[]): Promise<Locator> {
  await button(page, 'Upload').first().click()
  const dialog = dialogOf(page)
  await chooseFiles(page, files, () => button(dialog, 'Choose files').click())
  return dialog
}

/** Chooses a file, and starts its upload as soon as it has been read. */
async function upload(page: Page, file: PackedFile): Promise<Locator> {
  const dialog = await choose(page, file)
  await button(dialog, 'Upload 1 file').click()
  return findUpload(page, file.name)
}

async function readVersions(name: string): Promise<{ version: string; enabled: boolean; size: number }[]> {
  const { rows } = await scene.service.sql.query<{ version: string; enabled: boolean; size: number }>(
    'select version, enabled, size from pilet_packages where project_id = $1 and name = $2 order by version',
    [scene.project.id, name],
  )
  return rows
}

/** Returns the pins that the settings of the tenant contain. */
async function readPins(): Promise<string[]> {
  const { rows } = await scene.service.sql.query<{ pins: string }>(
    `select pair ->> 'Value' as pins from settings,
       jsonb_array_elements(frontend_module_config -> 'KeyValuePairs') pair
     where tenant_id = $1 and application_id is null and pair ->> 'Key' = 'pilets.pins'`,
    [scene.project.tenantId],
  )
  return rows.map(({ pins }) => pins)
}

describe('an upload', () => {
  test('by button stores the archive, and opens its version', async () => {
    const file = pack(
      { name: '@shop/button', version: '1.2.0', description: 'The cart' },
      { 'index.js': 'export {}' },
    )
    const page = await open()
    const row = await upload(page, file)
    await row.getByText('uploaded, enabled').waitFor()
    await button(row, 'Open').click()
    await panelOf(page).getByRole('heading', { name: '@shop/button' }).waitFor()
    await panelOf(page).getByText('The cart').waitFor()
    expect(await readVersions('@shop/button')).toEqual([
      { version: '1.2.0', enabled: true, size: file.buffer.length },
    ])
    await page.getByRole('row', { name: /@shop\/button/ }).waitFor()
  })

  test('by drag and drop takes packages and scripts, and stores them disabled if the person wants that', async () => {
    const page = await open()
    await dropFiles(page, [
      pack({ name: 'dropped', version: '2.0.0' }),
      toFile('script.js', Buffer.from('export {}')),
    ])
    const dialog = dialogOf(page)
    await findUpload(page, 'dropped-2.0.0.tgz').getByText('ready').waitFor()
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('dropped-script')
    await dialog.getByRole('textbox', { name: /^Version/ }).fill('1.0.0')
    await dialog.getByText('Enable the versions immediately').click()
    await button(dialog, 'Upload 2 files').click()
    await expect.poll(() => dialog.getByText('uploaded, disabled').count()).toBe(2)
    expect((await readVersions('dropped')).map(({ enabled }) => enabled)).toEqual([false])
    expect((await readVersions('dropped-script')).map(({ version }) => version)).toEqual(['1.0.0'])
  })

  test('of a file that is no package says at the file what to do, and sends nothing', async () => {
    const page = await open()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/pilets/') && request.method() === 'POST') sent.push(request.url())
    })
    const dialog = await choose(
      page,
      toFile('report.pdf', Buffer.from('%PDF-1.7')),
      toFile('renamed.tgz', Buffer.from('text')),
      toFile('empty.tgz', Buffer.alloc(0)),
    )
    await findUpload(page, 'report.pdf').getByText('neither an npm package nor a script').waitFor()
    await findUpload(page, 'renamed.tgz').getByText('neither an npm package nor a script').waitFor()
    await findUpload(page, 'empty.tgz').getByText('The file is empty').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await button(dialog, 'Upload').click({ force: true })
    await button(dialog, 'Remove report.pdf from the list').click()
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'report.pdf' }).count()).toBe(0)
    expect(sent).toEqual([])
  })

  test('of a version that exists says whether its content is the same', async () => {
    const [first, other] = ['one', 'two'].map((text) =>
      pack({ name: 'taken', version: '1.0.0' }, { 'index.js': text }),
    ) as [PackedFile, PackedFile]
    const page = await open()
    await (await upload(page, first)).getByText('uploaded, enabled').waitFor()
    await page.reload()
    await (await upload(page, first)).getByText('with the same content').waitFor()
    await page.reload()
    const row = await upload(page, other)
    await row.getByText('exists with other content').waitFor()
    await row.getByText('raise the version in package.json').waitFor()
    await button(row, 'Open').click()
    await panelOf(page).getByRole('heading', { name: 'taken' }).waitFor()
    expect(await readVersions('taken')).toEqual([
      { version: '1.0.0', enabled: true, size: first.buffer.length },
    ])
  })

  test('that exceeds the limit of the Manager shows the limit', async () => {
    const page = await open()
    const file = pack({ name: 'large', version: '1.0.0' }, { 'index.js': randomBytes(1_300_000) })
    const row = await upload(page, file)
    await row.getByText('The Manager rejected the size').waitFor()
    expect(await readVersions('large')).toEqual([])
  })

  test('shows its progress, continues in the closed dialog, and stores nothing after it is cancelled', async () => {
    const page = await open()
    const session = await page.context().newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 16 * 1_024 }
    await session.send('Network.emulateNetworkConditions', slow)
    const row = await upload(
      page,
      pack({ name: 'cancelled', version: '1.0.0' }, { 'index.js': randomBytes(900_000) }),
    )
    const progress = row.getByRole('progressbar', { name: 'Progress of cancelled-1.0.0.tgz' })
    const readProgress = () => progress.evaluate((element) => (element as HTMLProgressElement).value)
    await expect.poll(readProgress, { timeout: 60_000 }).toBeGreaterThan(0)
    await button(dialogOf(page), 'Close').click()
    await button(page, /^Uploading \d+%$/)
      .first()
      .click()
    await button(dialogOf(page), 'Cancel the upload of cancelled-1.0.0.tgz').click()
    await row.getByText('Nothing was stored.').waitFor()
    await expectFocus(button(row, 'Remove cancelled-1.0.0.tgz from the list'))
    expect(await readVersions('cancelled')).toEqual([])
  })

  test('whose response is lost looks for the version before it reports a failure', async () => {
    const page = await open()
    await page.route('**/pilets/**', async (route) => {
      await (route.request().url().includes('/lost/') ? dropResponse(route) : route.abort())
    })
    await (
      await upload(page, pack({ name: 'lost', version: '1.0.0' }))
    )
      .getByText('uploaded, enabled')
      .waitFor()
    await button(dialogOf(page), 'Close').click()
    const row = await upload(page, pack({ name: 'never', version: '1.0.0' }))
    await row.getByText('Nothing was stored.').waitFor()
    await page.unroute('**/pilets/**')
    await button(row, 'Try again').click()
    await row.getByText('uploaded, enabled').waitFor()
    expect((await readVersions('never')).map(({ version }) => version)).toEqual(['1.0.0'])
  })
})

describe('a version', () => {
  test('is disabled after a confirmation that names its users, and enabled immediately', async () => {
    const { sql } = scene.service
    const id = await seedPilet(sql, scene.project.id, 'switched')
    await setLayer(sql, scene.project, 'application', { modules: ['switched'] })
    const page = await open(`?open=${id}`)
    await panelOf(page).getByText('not signed', { exact: true }).waitFor()
    await button(page, 'Disable').click()
    await dialogOf(page).getByText('Applications that load it now').waitFor()
    await button(dialogOf(page), 'Disable').click()
    await page.getByText('Disabled switched 1.0.0').waitFor()
    expect((await readVersions('switched')).map(({ enabled }) => enabled)).toEqual([false])
    await expectFocus(button(page, 'Enable'))
    await page.keyboard.press('Enter')
    await page.getByText('Enabled switched 1.0.0').waitFor()
    expect((await readVersions('switched')).map(({ enabled }) => enabled)).toEqual([true])
  })

  test('is pinned for a tenant, which the feed preview shows, and the pin is removed', async () => {
    const { sql } = scene.service
    const { tenantId, applicationId } = scene.project
    const id = await seedPilet(sql, scene.project.id, 'pinned', { version: '1.0.0' })
    await seedPilet(sql, scene.project.id, 'pinned', { version: '1.10.0' })
    await setLayer(sql, scene.project, 'application', { modules: ['pinned'] })
    const feed = `?view=feed&application=${applicationId}&tenant=${tenantId}`
    const page = await open(feed)
    await findRow(page, '1.10.0').getByText('highest enabled').waitFor()
    await page.goto(`${scene.origin}/console${path}?open=${id}&tab=usage`)
    await panelOf(page).getByText('No layer pins a version').waitFor()
    await button(page, 'Pin').click()
    const dialog = dialogOf(page)
    await dialog.getByRole('button', { name: /^Tenant/ }).click()
    await page.getByRole('option', { name: /main-tenant/ }).click()
    await button(dialog, 'Pin').click()
    await page.getByText('Pinned pinned to 1.0.0').waitFor()
    await button(panelOf(page), /^Remove the pin of/).waitFor()
    expect(await readPins()).toEqual(['{"pinned":"1.0.0"}'])
    await page.goto(`${scene.origin}/console${path}${feed}`)
    await findRow(page, '1.0.0').locator('.badge', { hasText: 'pinned' }).waitFor()
    await page.goto(`${scene.origin}/console${path}?open=${id}&tab=usage`)
    await button(panelOf(page), /^Remove the pin of/).click()
    await panelOf(page).getByText('No layer pins a version').waitFor()
    expect(await readPins()).toEqual([])
  })

  test('has no actions for a person who may only read', async () => {
    const id = await seedPilet(scene.service.sql, scene.project.id, 'read-only')
    const page = await open(`?open=${id}`, await scene.member('Rita Reader', 'readonly'))
    await page.getByText('With your role, you can only view this version.').waitFor()
    for (const name of ['Upload', 'Enable', 'Disable', 'Pin', 'Edit'])
      expect([name, await button(page, name).count()]).toEqual([name, 0])
  })

  test('that another person changed is not disabled', async () => {
    const id = await seedPilet(scene.service.sql, scene.project.id, 'contended')
    const page = await open(`?open=${id}`)
    await button(page, 'Disable').click()
    await scene.service.query(
      scene.admin,
      'mutation($project: ID!) { updatePiletPackage(projectId: $project, name: "contended", version: "1.0.0", description: "new") { id } }',
      { project: scene.project.id },
    )
    await button(dialogOf(page), 'Disable').click()
    await dialogOf(page).getByText('was changed while you were editing').waitFor()
    expect((await readVersions('contended')).map(({ enabled }) => enabled)).toEqual([true])
  })
})

test('the list keeps its filters in the address, and finds an exact version', async () => {
  const { sql } = scene.service
  for (const version of ['1.9.0', '1.10.0', '2.0.0-rc.1'])
    await seedPilet(sql, scene.project.id, '@list/menu', { version })
  const page = await open('?q=@list/menu')
  const readShown = () => page.getByRole('row').locator('code').allTextContents()
  await expect.poll(readShown).toEqual(['2.0.0-rc.1', '1.10.0', '1.9.0'])
  await page.getByRole('searchbox').fill('@list/menu@1.10.0')
  await expect.poll(readShown).toEqual(['1.10.0'])
  expect(new URL(page.url()).searchParams.get('q')).toBe('@list/menu@1.10.0')
  await page.getByRole('button', { name: /Status: any/ }).click()
  await page.getByRole('option', { name: 'disabled' }).click()
  await page.getByRole('heading', { name: 'No version matches' }).waitFor()
  await button(page, 'Clear filters').click()
  await expect.poll(async () => (await readShown()).length).toBeGreaterThan(3)
})
