// The set-up of the tests of the audit section: a trail with three changes of settings, and hostile entries.
import type { Person } from '@manager/harness/callers.ts'
import { seedProject } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { createAudit } from '../../../manager/test/kit/audit-trail.ts'
import { type Scene, type View, type Visit, useConsole, waitForPage } from './scene.ts'

export const path = '/p/main/audit'

type AuditScene = {
  scene: Scene
  anna: Person
  maria: Person
  settings: { id: string }
  /** Opens an address, by default the section as Maria. */
  open: (address?: string, person?: Person, view?: View) => Promise<Visit>
}

/** Starts the console and changes settings before the tests in a file. The objects are filled before the first test. */
export function useAuditScene(): AuditScene {
  const scene = useConsole()
  const [anna, maria] = [{} as Person, {} as Person]
  const settings = { id: '' }
  beforeAll(async () => {
    Object.assign(anna, await scene.member('Anna Vogt', 'owner'))
    Object.assign(maria, await scene.member('Maria Moser', 'maintainer'))
    const { data } = await scene.service.query(
      anna,
      'query($tenant: ID!) { settings(tenant: $tenant) { id } }',
      { tenant: scene.project.tenantId },
    )
    settings.id = data.settings.id
    await setKey(anna, 'support.mail', 'help@baltic.example')
    await setKey(anna, 'support.mail', 'it@baltic.example')
    await setKey(maria, 'theme.color', 'blue')
  })

  async function setKey(person: Person, key: string, value: string): Promise<void> {
    const { error } = await scene.service.query(
      person,
      `mutation($project: ID!, $id: ID!, $set: [KeyValuePairInput!]) {
        setSettingsKeys(projectId: $project, changes: [{ settingsId: $id, part: "frontend", set: $set }]) { id }
      }`,
      { project: scene.project.id, id: settings.id, set: [{ Key: key, Value: value }] },
    )
    expect(error).toBeNull()
  }

  async function open(address = path, person = maria, view: View = {}): Promise<Visit> {
    const visit = await scene.visit(person, view)
    await visit.open(address)
    await waitForPage(visit.page)
    return visit
  }
  return { scene, anna, maria, settings, open }
}

/** Adds a project with three entries whose values try to break the page. */
export async function seedHostileEntries(scene: Scene): Promise<void> {
  const script = '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>'
  const reversed = 'invoice\u202Efdp.exe\u2066'
  const hostile = await seedProject(scene.service.sql, 'hostile')
  const { database, clock } = scene.service.world
  const event = (name: string) => ({
    projectId: hostile.id,
    entityType: 'trigger',
    entityId: hostile.id,
    action: 'update' as const,
    description: `trigger ${name} updated`,
    classes: { name: 'public', template: 'public' } as const,
    before: { name: script, template: 'short' },
    after: { name, template: 'x'.repeat(10_000) },
    metadata: { [script]: reversed },
  })
  const actor = {
    principal: { type: 'system' as const, id: reversed },
    ipAddress: '',
    userAgent: `${script}${'A'.repeat(400)}`,
  }
  await database.db.transaction((tx) =>
    createAudit(clock).append(tx, actor, event(script), event(reversed), event('ab '.repeat(3_333))),
  )
}

export const panelOf = (page: Page): Locator => page.getByRole('complementary', { name: /^Entry/ })
export const rowsOf = (page: Page): Locator =>
  page.getByRole('grid', { name: 'Audit' }).getByRole('rowheader')
export const sentence = 'Settings of tenant main-tenant changed'
/** The router puts texts that look like numbers into quotes. */
export const searchOf = (page: Page): Record<string, string> =>
  Object.fromEntries(
    [...new URL(page.url()).searchParams].map(([key, value]) => [key, value.replace(/^"(.*)"$/, '$1')]),
  )

export const expectSearch = async (page: Page, search: Record<string, string>): Promise<void> => {
  await expect.poll(() => searchOf(page), { timeout: 10_000 }).toEqual(search)
}

/** Waits until the list has exactly these sentences. */
export const expectRows = async (page: Page, sentences: readonly string[]): Promise<void> => {
  await expect
    .poll(() => rowsOf(page).locator('.two-lines > :first-child').allTextContents(), { timeout: 20_000 })
    .toEqual(sentences)
}
