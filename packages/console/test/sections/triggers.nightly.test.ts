// The triggers section: a trigger that is created in the console fires on a real backend, its runs appear without a
// reload, and failed runs are explained and retried.
import { seedMachineUser } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startBackground } from '../../../manager/test/kit/background-work.ts'
import { startExampleBackend } from '../../../manager/test/kit/example-backend.ts'
import { seedBackend, seedTrigger } from '../../../manager/test/kit/triggers.ts'
import type { Person } from '@manager/harness/callers.ts'
import { expectFocus } from '../kit/focus.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'
import { findEnvironment, seedRun } from '../kit/seed-runs.ts'

const scene = useConsole({ env: { SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8' } })
const path = '/p/main/triggers'

let dora: Person
let production: string
beforeAll(async () => {
  dora = await scene.member('Dora Developer', 'developer')
  production = await findEnvironment(scene, 'run')
})

const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })
const panelOf = (page: Page): Locator => page.getByRole('complementary')

async function open(address: string, person = dora): Promise<Page> {
  const { page, open: go } = await scene.visit(person)
  await go(address)
  await waitForPage(page)
  return page
}

/** Renames a seeded trigger, so that a test finds its own. */
async function seedNamed(name: string): Promise<string> {
  const id = await seedTrigger(scene.service.sql, scene.project)
  await scene.service.sql.query('update triggers set name = $2 where id = $1', [id, name])
  return id
}

/** Seeds a live backend in the protected environment. No process delivers its runs, so they stay pending. */
async function seedProductionBackend(): Promise<void> {
  const { service, project } = scene
  await service.sql.query('delete from backend_registrations where environment_id = $1', [production])
  await seedBackend(service.sql, { ...project, environmentId: production })
}

const countRuns = async (triggerId: string): Promise<number> => {
  const { rows } = await scene.service.sql.query<{ count: number }>(
    'select count(*)::int as count from trigger_runs where trigger_id = $1',
    [triggerId],
  )
  return rows[0]?.count ?? 0
}

/** Fills in the form of a new trigger. */
async function fillNew(page: Page, { name, schedule }: { name: string; schedule: string }): Promise<Locator> {
  await button(page, 'New trigger').first().click()
  const dialog = page.getByRole('dialog', { name: 'New trigger' })
  await dialog.getByRole('button', { name: /^Application/ }).click()
  await page.getByRole('option', { name: 'Application of main' }).click()
  await dialog.getByRole('textbox', { name: /^Name/ }).fill(name)
  await dialog.getByRole('textbox', { name: /^Schedule/ }).fill(schedule)
  return dialog
}

describe('a trigger', () => {
  // The page reads its runs every five seconds.
  test('that is created in the console fires on a backend, and its run appears without a reload', async () => {
    const { service, project } = scene
    const machine = await seedMachineUser(service.sql, project)
    const stopWork = startBackground(service)
    const backend = await startExampleBackend('backend.ts', {
      managerUrl: service.url,
      applicationId: project.applicationId,
      token: machine.token,
    })
    onTestFinished(async () => {
      await backend.stop()
      await stopWork()
    })
    const page = await open(path)
    const dialog = await fillNew(page, {
      name: 'Nightly invoices',
      schedule: 'CRON_TZ=Europe/Berlin 0 3 * * mon-fri',
    })
    await button(dialog, 'Create').click()
    const panel = page.getByRole('complementary', { name: 'Nightly invoices' })
    await panel.getByText('At 03:00, Monday to Friday, Berlin time').waitFor()
    await button(panel, 'All runs').click()
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))

    const triggerId = new URL(page.url()).searchParams.get('open')
    const registered = "select 1 from backend_registrations where callback_url like '%127.0.0.1%'"
    await expect.poll(async () => (await service.sql.query(registered)).rowCount).toBe(1)
    await service.sql.query('update triggers set next_fire_at = now() where id = $1', [triggerId])

    const row = page.getByRole('row').filter({ hasText: 'delivered' })
    await row.waitFor()
    expect(await row.getByText('dev', { exact: true }).count()).toBe(1)
    await row.getByText('204').waitFor()
    await row.click()
    await panelOf(page).getByText('status 204').waitFor()
    await panelOf(page).getByText('the schedule').waitFor()
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true)
  })

  test('that a person saves by two presses at once is created once', async () => {
    const page = await open(path)
    const dialog = await fillNew(page, { name: 'Pressed twice', schedule: '@daily' })
    await button(dialog, 'Create').evaluate((element: HTMLElement) => {
      element.click()
      element.click()
    })
    await page.getByRole('complementary', { name: 'Pressed twice' }).waitFor()
    const { rows } = await scene.service.sql.query<{ count: number }>(
      "select count(*)::int as count from triggers where name = 'Pressed twice'",
    )
    expect(rows).toEqual([{ count: 1 }])
  })

  test('shows its schedule in words and its next runs in its time zone while a person types', async () => {
    const page = await open(path)
    const dialog = await fillNew(page, { name: 'Report', schedule: '30 6 * * *' })
    await dialog.getByText('At 06:30, every day, UTC').waitFor()
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(10)
    await dialog.getByText('06:30', { exact: true }).first().waitFor()

    await dialog.getByRole('button', { name: /^Time zone/ }).click()
    await page.getByRole('searchbox', { name: /time zone/ }).fill('new york')
    await page.getByRole('option', { name: 'America/New_York' }).click()
    await dialog.getByText('At 06:30, every day, New York time').waitFor()
    const schedule = dialog.getByRole('textbox', { name: /^Schedule/ })
    expect(await schedule.inputValue()).toBe('CRON_TZ=America/New_York 30 6 * * *')

    await schedule.fill('30 6 * *')
    await dialog.getByText(/^The expression has 4 fields and must have 5/).waitFor()
    await button(dialog, 'Create').click()
    await dialog
      .locator('.field-error')
      .getByText(/has 4 fields/)
      .waitFor()
    expect(await dialog.isVisible()).toBe(true)
  })

  test('is edited, disabled, enabled again by undo, and deleted after its name is typed', async () => {
    const id = await seedNamed('Cleanup')
    const page = await open(`${path}?open=${id}`)
    const panel = panelOf(page)
    await button(panel, 'Edit').click()
    const dialog = page.getByRole('dialog', { name: 'Edit Cleanup' })
    await dialog.getByRole('textbox', { name: /^Schedule/ }).fill('*/15 9-17 * * 1-5')
    await button(dialog, 'Save').click()
    await panel.getByText('Every 15 minutes from 09:00 to 17:59, Monday to Friday, UTC').waitFor()

    await button(panel, 'Disable').click()
    await page.getByText('Disabled Cleanup').waitFor()
    await panel.getByText('The trigger is disabled: it does not fire.').waitFor()
    await expectFocus(button(panel, 'Enable'))
    await button(page, 'Undo').click()
    await button(panel, 'Disable').waitFor()

    await button(panel, 'Delete').click()
    const confirmation = page.getByRole('dialog', { name: 'Delete trigger Cleanup?' })
    await confirmation.getByRole('textbox').fill('Cleanup')
    await button(confirmation, 'Delete').click()
    await page.getByText('Deleted Cleanup').waitFor()
    await expect.poll(() => page.getByRole('row', { name: /Cleanup/ }).count()).toBe(0)
  })

  test('runs now in a protected environment only after the environment is typed', async () => {
    await seedProductionBackend()
    const id = await seedNamed('Manual')
    const page = await open(`${path}?open=${id}&env=run`)
    await button(page, 'Run now').click()
    const dialog = page.getByRole('dialog', { name: 'Run Manual now?' })
    await button(dialog, 'Run now').click({ force: true })
    await dialog.getByRole('textbox', { name: 'Type run to confirm' }).fill('run')
    expect(await countRuns(id)).toBe(0)
    await button(dialog, 'Run now').click()
    await page.getByText('Started Manual in run').waitFor()
    // The address of the new run is open.
    await panelOf(page).getByText('Dora Developer').waitFor()
    expect(new URL(page.url()).searchParams.get('run')).not.toBe(null)
    expect(await countRuns(id)).toBe(1)
  })
})

describe('a run', () => {
  test('that failed says why, and is retried after the protected environment is typed', async () => {
    await seedProductionBackend()
    const triggerId = await seedNamed('Failing')
    const run = await seedRun(scene, {
      triggerId,
      environmentId: production,
      outcome: 'failed',
      status: 503,
      failure: 'the backend returned 503',
    })
    const page = await open(`${path}?open=${triggerId}&run=${run}`)
    const panel = panelOf(page)
    await panel.getByText('The backend returned status 503.').waitFor()
    await panel.getByText('status 503', { exact: true }).waitFor()
    await button(panel, 'Retry').click()
    const dialog = page.getByRole('dialog', { name: 'Retry this run of Failing?' })
    await dialog.getByRole('textbox').fill('run')
    await button(dialog, 'Retry').click()
    await page.getByText('Started Failing in run').waitFor()
    await button(panel, 'another run').click()
    await panel.getByText('The backend returned status 503.').waitFor()
    expect(new URL(page.url()).searchParams.get('run')).toBe(run)
    expect(await countRuns(triggerId)).toBe(2)
  })

  test('is on the timeline of its environment, and an address finds it on any page', async () => {
    const triggerId = await seedNamed('Often')
    const ids: string[] = []
    for (let minutes = 0; minutes < 70; minutes++)
      ids.push(await seedRun(scene, { triggerId, environmentId: production, outcome: 'delivered', minutes }))
    const [newest, oldest] = [ids[0], ids.at(-1)]
    const page = await open(`${path}?open=${triggerId}&view=runs`)
    const lane = page.getByRole('toolbar', { name: 'Runs in run' })
    expect(await lane.getByRole('button').count()).toBe(14)
    await lane.getByRole('button').last().click()
    await expect.poll(() => new URL(page.url()).searchParams.get('run')).toBe(newest)
    await panelOf(page).getByText('delivered').first().waitFor()

    const other = await open(`${path}?open=${triggerId}&run=${oldest}`)
    await panelOf(other).getByText('delivered').first().waitFor()
    const unknown = await open(`${path}?open=${triggerId}&run=${triggerId}`)
    await panelOf(unknown).getByText('Not found, or no access').waitFor()
    expect(await button(panelOf(unknown), 'Retry').count()).toBe(0)
  })
})
