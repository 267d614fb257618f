// Details of the deployments section: many backends and applications, two editors of one specification, the actions of
// each role, and wakes that are slow or lose their connection.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { createFakeOrchestrator, seedSpecification } from '../../manager/test/kit/deployments.ts'
import { dropResponse, onOperation } from './kit/requests.ts'
import { useConsole, waitForPage } from './kit/scene.ts'

const orchestrator = createFakeOrchestrator()
const scene = useConsole({ world: { orchestrator } })

let maria: Person
beforeAll(async () => {
  maria = await scene.member('Maria Maintainer', 'maintainer')
})
beforeEach(async () => {
  const { sql } = scene.service
  orchestrator.floors.clear()
  await sql.query('delete from backend_registrations')
  await sql.query('delete from deployment_specifications')
  await sql.query("delete from applications where slug like 'many-%'")
})

const button = (place: Page | Locator, name: string): Locator =>
  place.getByRole('button', { name, exact: true })
const panelOf = (page: Page): Locator => page.getByRole('complementary')
const field = (place: Locator, name: string): Locator =>
  place.getByRole('textbox', { name: new RegExp(`^${name}`) })

async function open(
  person: Person,
  { tab = '', width = 1280 }: { tab?: string; width?: 360 | 1280 } = {},
): Promise<Page> {
  const { page, open: go } = await scene.visit(person, { width })
  await go(`/p/main/deployments?open=${scene.project.applicationId}.dev${tab && `&tab=${tab}`}`)
  await waitForPage(page)
  return page
}

/** Inserts backends in the environment dev, each with its own machine user. */
const seedBackends = (count: number): Promise<unknown> =>
  scene.service.sql.query(
    `with made as (
       insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
       select gen_random_uuid(), $1, $3, 'backend ' || n, 'Bearer:' || prefix, true, prefix,
              sha256(gen_random_uuid()::text::bytea)
         from (select n, left(md5(gen_random_uuid()::text), 8) as prefix from generate_series(1, $4::int) n) made
       returning id
     )
     insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version)
     select gen_random_uuid(), $1, $2, $3, id, 'https://backend.example.com/', ''::bytea, '1.4.2' from made`,
    [scene.project.id, scene.project.applicationId, scene.project.environmentId, count],
  )

/** Inserts applications whose names have numbers of the same length. */
const seedApplications = (count: number): Promise<unknown> =>
  scene.service.sql.query(
    `insert into applications (id, project_id, name, slug)
     select gen_random_uuid(), $1, 'Many ' || lpad(n::text, 4, '0'), 'many-' || n from generate_series(1, $2::int) n`,
    [scene.project.id, count],
  )

describe('a deployment with 1,000 backends', () => {
  beforeEach(() => seedBackends(1_000))

  test('lists them page by page, and counts all of them', async () => {
    const page = await open(maria, { tab: 'backends' })
    const section = panelOf(page).getByRole('region', { name: 'Backends' })
    await page
      .getByRole('row', { name: /^Application of main .*dev$/ })
      .getByText('100+ live')
      .waitFor()
    await page.getByRole('tab', { name: /Backends 1,000/ }).waitFor()
    await section.getByText('1–25 of 1,000').waitFor()
    expect(await section.locator('.section-row').count()).toBe(25)
    const first = await section.locator('.section-row').first().textContent()
    await button(section, 'Next page').click()
    await section.getByText('26–50 of 1,000').waitFor()
    await expect.poll(() => section.locator('.section-row').first().textContent()).not.toBe(first)
    // A backend on another page is not gone.
    expect(await section.getByText('gone', { exact: true }).count()).toBe(0)
  })

  test('fits 360 px and is accessible', async () => {
    const page = await open(maria, { tab: 'backends', width: 360 })
    await panelOf(page).getByText('1–25 of 1,000').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
    expect(await violationsOf(page)).toEqual([])
  })
})

test('the rows of many applications are paged without gaps, for one environment and for all', async () => {
  await seedApplications(70)
  const { page, open: go } = await scene.visit(maria)
  const namesOf = (): Promise<string[]> =>
    page.getByRole('rowheader').locator('.two-lines-first').allTextContents()
  await go('/p/main/deployments')
  await waitForPage(page)
  await page.getByText('1–25 of 213').waitFor()
  await expect.poll(async () => (await namesOf())[0]).toBe('Application of main')
  await button(page, 'Next page').click()
  await page.getByText('26–50 of 213').waitFor()
  // The first page ends after the first row of the ninth application.
  await expect
    .poll(async () => (await namesOf()).slice(0, 3))
    .toEqual(['Many 0008', 'Many 0008', 'Many 0009'])
  await go('/p/main/deployments?env=run&page=2')
  await page.getByText('26–50 of 71').waitFor()
  await expect.poll(async () => (await namesOf()).slice(0, 2)).toEqual(['Many 0025', 'Many 0026'])
  await page.getByRole('searchbox', { name: 'Application' }).fill('Many 0070')
  await expect.poll(namesOf).toEqual(['Many 0070'])
})

test('two editors of one specification see both changes, and nothing is lost', async () => {
  await seedSpecification(scene.service.sql, scene.project)
  const ben = await open(await scene.member('Ben', 'maintainer'))
  const edit = async (page: Page, values: Readonly<Record<string, string>>): Promise<Locator> => {
    await button(panelOf(page), 'Edit').click()
    for (const [name, value] of Object.entries(values))
      await field(page.getByRole('dialog'), name).fill(value)
    return page.getByRole('dialog')
  }
  const bens = await edit(ben, { Version: '2', Port: '9090', 'Health path': '/ready' })
  const ada = await open(await scene.member('Ada', 'maintainer'))
  const adas = await edit(ada, { Version: '3', 'Maximum replicas': '7' })
  await button(adas, 'Save').click()
  await ada.getByText('Saved shop/web').waitFor()

  await button(bens, 'Save').click()
  const conflict = ben.getByRole('dialog', { name: 'Somebody else changed this specification' })
  await conflict.getByText('Ada saved a change while you were editing.').waitFor()
  await conflict.getByText('Conflicting fields: 1; other changed fields: 3.').waitFor()
  expect(await violationsOf(ben)).toEqual([])
  await button(conflict, 'Back to editing').click()
  expect(await field(ben.getByRole('dialog'), 'Port').inputValue()).toBe('9090')
  await button(ben.getByRole('dialog'), 'Save').click()
  await conflict
    .getByRole('row', { name: /^Version/ })
    .getByRole('radio', { name: '2' })
    .check()
  await button(conflict, 'Save result').click()
  await ben.getByText('Saved shop/web').waitFor()
  const { rows } = await scene.service.sql.query(
    'select version, port, max_replicas, health_path from deployment_specifications',
  )
  expect(rows).toEqual([{ version: '2', port: 9_090, max_replicas: 7, health_path: '/ready' }])
})

test.each([
  ['readonly', []],
  ['tester', ['Wake']],
  ['developer', ['Wake']],
  ['maintainer', ['Delete', 'Edit', 'Wake']],
] as const)('a person with the role %s has the actions %j', async (role, names) => {
  await seedSpecification(scene.service.sql, scene.project, { scaleToZero: true })
  const page = await open(await scene.member(`person ${role}`, role))
  const shown = await panelOf(page).locator('[data-action]').allTextContents()
  expect(shown.toSorted()).toEqual(names)
})

describe('a wake', () => {
  const wakeOf = (page: Page): Locator => panelOf(page).getByRole('region', { name: 'Waking' })
  beforeEach(() => seedSpecification(scene.service.sql, scene.project, { scaleToZero: true }))

  test('whose backend does not register in time says what to check, and continues to wait', async () => {
    await scene.service.sql.query('update deployment_specifications set readiness_timeout_seconds = 1')
    const page = await open(maria)
    await button(panelOf(page), 'Wake').click()
    await wakeOf(page).getByText('No backend has registered within 1 s').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await seedBackends(3)
    await wakeOf(page).getByText('3 backends are live').waitFor()
  })

  test('whose response is lost has an unknown outcome, and still ends when a backend is ready', async () => {
    const page = await open(maria)
    await onOperation(page, 'deploymentWake', dropResponse)
    await button(panelOf(page), 'Wake').click()
    await wakeOf(page).getByText('the result is unknown').waitFor()
    expect(orchestrator.floors.get('shop/web')).toBe(1)
    expect(await violationsOf(page)).toEqual([])
    await seedBackends(1)
    await wakeOf(page).getByText('1 backend is live').waitFor()
  })

  test('after the operator has turned scale to zero off is rejected in words', async () => {
    const page = await open(maria)
    await scene.service.sql.query('update deployment_specifications set scale_to_zero = false')
    await button(panelOf(page), 'Wake').click()
    await wakeOf(page)
      .getByText('The deployment was not woken: the deployment is not scale-to-zero eligible')
      .waitFor()
    await expect
      .poll(() => button(panelOf(page), 'Wake again').getAttribute('data-disabled-reason'))
      .toBe('Scale to zero is off, so the workload does not sleep')
  })
})
