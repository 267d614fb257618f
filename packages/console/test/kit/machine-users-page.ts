// The set-up of the tests of the machine users section: a maintainer, an endpoint, and machine users.
import type { Person } from '@manager/harness/callers.ts'
import { createMachineToken } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll } from 'vitest'
import { seedEndpoint } from '../../../manager/test/kit/endpoints.ts'
import { tokenWorks } from '../../../manager/test/kit/machines.ts'
import { expectFocus, tabTo } from './focus.ts'
import { type Scene, useConsole, waitForPage } from './scene.ts'

export const path = '/p/main/machine-users'

export type Seeded = { id: string; name: string; token: string }
type MachineUserScene = {
  scene: Scene
  maria: Person
  endpoint: { id: string }
  /** Inserts a machine user whose token is `days` old. */
  seedNamed: (name: string, options?: { environment?: string; days?: number }) => Promise<Seeded>
  works: (of: { token: string }) => Promise<boolean>
  /** Opens the section, or the panel of a machine user, by default as Maria. */
  open: (of?: Seeded, person?: Person) => Promise<Page>
}

/** Starts the console and adds an endpoint before the tests in a file. The objects are filled before the first test. */
export function useMachineUserScene(): MachineUserScene {
  const scene = useConsole()
  const maria = {} as Person
  const endpoint = { id: '' }
  beforeAll(async () => {
    Object.assign(maria, await scene.member('Maria Maintainer', 'maintainer'))
    endpoint.id = await seedEndpoint(scene.service.sql, scene.project)
  })
  return {
    scene,
    maria,
    endpoint,
    seedNamed: async (name, { environment = 'dev', days = 0 } = {}) => {
      const { token, tokenPrefix, tokenHash } = createMachineToken()
      const { rows } = await scene.service.sql.query<{ id: string }>(
        `insert into machine_users
           (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash, created_at)
         select gen_random_uuid(), $1, id, $3, $4, true, $5, $6, now() - make_interval(days => $7::int)
         from environments where project_id = $1 and name = $2 returning id`,
        [scene.project.id, environment, name, `Bearer:${tokenPrefix}`, tokenPrefix, tokenHash, days],
      )
      return { id: rows[0]?.id as string, name, token }
    },
    works: async ({ token }) => (await tokenWorks([scene.service], token))[0] as boolean,
    open: async (of, person = maria) => {
      const { page, open: go } = await scene.visit(person)
      await go(of === undefined ? path : `${path}?open=${of.id}`)
      await waitForPage(page)
      return page
    },
  }
}

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
export const panelOf = (page: Page): Locator => page.getByRole('complementary')

/** Confirms by keyboard that the secret is stored, and closes its dialog. */
export async function finishSecret(page: Page): Promise<void> {
  await page.keyboard.press('Tab')
  await expectFocus(page.getByRole('checkbox'))
  await page.keyboard.press('Space')
  await tabTo(button(page, 'Done'))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
