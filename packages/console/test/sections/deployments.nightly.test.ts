// The deployments section: specifications are edited with errors at their fields, backends appear and disappear without
// a reload, and a wake shows its progress until the deployment is ready.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backdateHeartbeat, callbackUrl, register } from '@manager/harness/backends.ts'
import type { Person } from '@manager/harness/callers.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import {
  createFakeOrchestrator,
  createOrchestratorFailure,
  seedSpecification,
} from '../../../manager/test/kit/deployments.ts'
import { startExampleBackend } from '../../../manager/test/kit/example-backend.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

let before: () => Promise<void> | void
const orchestrator = createFakeOrchestrator(() => before())
const scene = useConsole({
  env: { SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8' },
  world: { orchestrator },
})

let maria: Person
beforeAll(async () => {
  maria = await scene.member('Maria Maintainer', 'maintainer')
})
beforeEach(async () => {
  before = () => undefined
  orchestrator.floors.clear()
  await scene.service.sql.query('delete from backend_registrations')
  await scene.service.sql.query('delete from deployment_specifications')
})

const button = (place: Page | Locator, name: string): Locator =>
  place.getByRole('button', { name, exact: true })
const panelOf = (page: Page): Locator => page.getByRole('complementary')
const field = (place: Locator, name: string): Locator =>
  place.getByRole('textbox', { name: new RegExp(`^${name}`) })

/** Opens the panel of the deployment in the environment dev. */
async function open({ person = maria, tab = '', environment = 'dev' } = {}): Promise<Page> {
  const { page, open: go } = await scene.visit(person)
  await go(`/p/main/deployments?open=${scene.project.applicationId}.${environment}${tab && `&tab=${tab}`}`)
  await waitForPage(page)
  return page
}

const readSpecification = async (): Promise<Record<string, unknown> | undefined> =>
  (
    await scene.service.sql.query<Record<string, unknown>>(
      'select workload, image, port, min_replicas, max_replicas from deployment_specifications',
    )
  ).rows[0]

describe('a specification', () => {
  test('with invalid fields has an error at each of them, and is saved when they are corrected', async () => {
    await seedSpecification(scene.service.sql, scene.project)
    const page = await open()
    await button(panelOf(page), 'Edit').click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Port').fill('many')
    await button(dialog, 'Save').click()
    await dialog.getByText('Enter a whole number.').waitFor()
    await field(dialog, 'Workload').fill('Shop')
    await field(dialog, 'Port').fill('99999999999')
    await field(dialog, 'Minimum replicas').fill('5')
    await button(dialog, 'Save').click()
    for (const text of [
      'workload must be namespace/name',
      'port must be from 1 to 65535',
      'minReplicas must not be greater than maxReplicas',
    ])
      await dialog.getByText(text).waitFor()
    expect(await dialog.locator('.field[data-invalid]').count()).toBe(3)
    expect(await violationsOf(page)).toEqual([])
    expect(await readSpecification()).toMatchObject({ workload: 'shop/web', port: 8_080, min_replicas: 1 })

    await field(dialog, 'Workload').fill('shop/web-2')
    await field(dialog, 'Port').fill('9090')
    await field(dialog, 'Minimum replicas').fill('2')
    await button(dialog, 'Save').click()
    await page.getByText('Saved shop/web-2').waitFor()
    await panelOf(page).getByText('2–3').waitFor()
    expect(await readSpecification()).toMatchObject({ workload: 'shop/web-2', port: 9_090, min_replicas: 2 })
  })

  test('is created for a deployment without one, and deleted in a protected environment by its name', async () => {
    const page = await open({ environment: 'run' })
    await panelOf(page).getByText('This deployment has no specification.').waitFor()
    await button(page, 'New specification').click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Workload').fill('shop/web')
    await field(dialog, 'Image').fill('registry.example/web:1')
    await button(dialog, 'Create').click()
    await page.getByText('Saved shop/web').waitFor()
    await button(panelOf(page), 'Delete').click()
    await dialog.getByRole('textbox').fill('shop/web')
    await button(dialog, 'Delete').click()
    await panelOf(page).getByText('This deployment has no specification.').waitFor()
    expect(await readSpecification()).toBe(undefined)
  })

  test('shows scale to zero without a control, and names the command of the operator', async () => {
    await seedSpecification(scene.service.sql, scene.project, { scaleToZero: true })
    const page = await open()
    const section = panelOf(page).getByRole('region', { name: 'Scale to zero' })
    await section.getByText('Only the operator of the Manager can').waitFor()
    await section
      .getByText('manager deployment scale-to-zero main/main-app dev off --workload shop/web')
      .waitFor()
    expect(await section.getByRole('switch').count()).toBe(0)
    await button(panelOf(page), 'Edit').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The workload cannot be changed while scale to zero is on.').waitFor()
    expect(await field(dialog, 'Workload').isEditable()).toBe(false)
  })
})

describe('a backend', () => {
  // The test waits for the age of a heartbeat to reach 2 s, and for the list to be read again twice.
  test('appears without a reload when its process registers, its heartbeat ages, and it is gone when it stops', async () => {
    const { token } = await seedMachineUser(scene.service.sql, scene.project)
    const page = await open({ tab: 'backends' })
    const section = panelOf(page).getByRole('region', { name: 'Backends' })
    const listed = page.getByRole('row', { name: /^Application of main .*dev$/ })
    await section.getByText('No backend is registered.').waitFor()
    await listed.getByText('none').waitFor()
    const backend = await startExampleBackend('backend.ts', {
      managerUrl: scene.service.url,
      applicationId: scene.project.applicationId,
      token,
      heartbeatSeconds: '3600',
    })
    try {
      const row = section.locator('.section-row')
      await row.getByText(new URL(backend.callbackUrl).origin).waitFor()
      await row.getByText('live', { exact: true }).waitFor()
      await listed.getByText('1 live').waitFor()
      const age = row.locator('.age')
      await expect.poll(() => age.textContent(), { timeout: 20_000 }).toMatch(/^([2-9]|\d\d) sec ago$/)
      expect(await age.getAttribute('title')).toMatch(/\d{4}, \d{1,2}:\d\d:\d\d/)
      expect(await backend.stop()).toBe(0)
      await row.getByText('gone', { exact: true }).waitFor()
      await listed.getByText('none').waitFor()
      expect(await violationsOf(page)).toEqual([])
    } finally {
      await backend.stop()
    }
  })

  test('that sends no heartbeats is silent, and its deployment has none that is live', async () => {
    const { token } = await seedMachineUser(scene.service.sql, scene.project)
    const { body } = await register(scene.service, token, {
      application_id: scene.project.applicationId,
      callback_url: callbackUrl,
      version: '1.4.2',
    })
    const page = await open({ tab: 'backends' })
    const row = panelOf(page).locator('.section-row')
    await row.getByText('1.4.2').waitFor()
    await row.getByText('live', { exact: true }).waitFor()
    await backdateHeartbeat(scene.service, (body as { registered_id: string }).registered_id, '5 minutes')
    await row.getByText('silent', { exact: true }).waitFor()
    await row.getByText('5 min ago').waitFor()
    expect(await row.getByText('live', { exact: true }).count()).toBe(0)
    await page
      .getByRole('row', { name: /^Application of main .*dev$/ })
      .getByText('none live')
      .waitFor()
  })
})

describe('a wake', () => {
  const wakeOf = (page: Page): Locator => panelOf(page).getByRole('region', { name: 'Waking' })
  const registerBackend = async (): Promise<void> => {
    const { token } = await seedMachineUser(scene.service.sql, scene.project)
    const { status } = await register(scene.service, token, {
      application_id: scene.project.applicationId,
      callback_url: callbackUrl,
    })
    expect(status).toBe(201)
  }

  test('shows its steps until a backend is ready, also after the person has left and reloaded', async () => {
    await seedSpecification(scene.service.sql, scene.project, { scaleToZero: true })
    const going = Promise.withResolvers<void>()
    before = () => going.promise
    const page = await open()
    await panelOf(page).getByText('asleep').waitFor()
    await button(panelOf(page), 'Wake').click()
    const active = wakeOf(page).locator('[aria-current=step]')
    await active.getByText('Ask the orchestrator to start the workload').waitFor()
    going.resolve()
    await wakeOf(page).getByText('The workload starts with at least 1 replica').waitFor()
    await active.getByText('Wait until a backend registers').waitFor()
    expect(orchestrator.floors.get('shop/web')).toBe(1)

    await page.locator('.side-bar-item', { hasText: 'Tenants' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.locator('.side-bar-item', { hasText: 'Deployments' }).click()
    const listed = page.getByRole('row', { name: /^Application of main .*dev$/ })
    await listed.getByText('waking').waitFor()
    await listed.click()
    await active.getByText('Wait until a backend registers').waitFor()
    await page.reload()
    await active.getByText(/Wait until a backend registers for \d+ s/).waitFor()
    expect(await violationsOf(page)).toEqual([])

    await registerBackend()
    await wakeOf(page).getByText('1 backend is live').waitFor()
    await expect.poll(() => wakeOf(page).locator('[data-state=done]').count()).toBe(3)
    await button(wakeOf(page), 'Dismiss').click()
    expect(await wakeOf(page).count()).toBe(0)
    await expect
      .poll(() => button(panelOf(page), 'Wake').getAttribute('data-disabled-reason'))
      .toBe('The deployment is awake: a backend is live')
  })

  test('that the orchestrator rejects says why, and can be repeated', async () => {
    await seedSpecification(scene.service.sql, scene.project, { scaleToZero: true })
    before = () => {
      throw createOrchestratorFailure('cannot read the Deployment shop/web: forbidden')
    }
    const page = await open({ person: await scene.member('Tom Tester', 'tester') })
    await button(panelOf(page), 'Wake').click()
    await wakeOf(page)
      .getByText('The deployment was not woken: cannot read the Deployment shop/web: forbidden')
      .waitFor()
    expect(await button(panelOf(page), 'Edit').count()).toBe(0)
    expect(await violationsOf(page)).toEqual([])
    before = () => undefined
    // The Manager reuses a failure for half a second.
    const woken = wakeOf(page).getByText(/^The workload (?:starts with|already had) at least 1 replica/)
    await expect
      .poll(async () => {
        await button(panelOf(page), 'Wake again').click()
        return woken.count()
      })
      .toBe(1)
  })

  test('is not offered to a reader, and says why it is impossible', async () => {
    await seedSpecification(scene.service.sql, scene.project)
    const page = await open()
    expect(await button(panelOf(page), 'Wake').getAttribute('data-disabled-reason')).toBe(
      'Scale to zero is off, so the workload does not sleep',
    )
    const reader = await open({ person: await scene.member('Rita Reader', 'readonly') })
    await reader.getByText('With your role, you can only view this deployment.').waitFor()
    expect(await reader.locator('[data-action^=deployments]').count()).toBe(0)
  })
})
