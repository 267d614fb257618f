// The set-up of the tests of failures: a maintainer, her pages, and the form for a new tenant.
import type { Person } from '@manager/harness/callers.ts'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { type Scene, type Visit, useConsole } from './scene.ts'
import { type Walk, createWalk } from './walk.ts'

type Opened = Visit & { walk: Walk; main: Locator }
type FailureScene = {
  scene: Scene
  /** A maintainer of the project. The object is filled before the first test. */
  ada: Person
  /** With `hasClock`, the test can advance the clock of the page. */
  openPage: (path: string, person?: Person, options?: { hasClock?: boolean }) => Promise<Opened>
  listTenants: (name: string) => Promise<number>
}

/** Starts the console and adds a maintainer before the tests in a file. */
export function useFailureScene(): FailureScene {
  const scene = useConsole()
  const ada = {} as Person
  beforeAll(async () => {
    Object.assign(ada, await scene.member('ada', 'maintainer'))
  })
  return {
    scene,
    ada,
    openPage: async (path, person = ada, { hasClock = false } = {}) => {
      const visit = await scene.visit(person)
      if (hasClock) await visit.page.clock.install()
      const walk = createWalk(visit)
      await walk.go(path)
      return { ...visit, walk, main: visit.page.locator('main') }
    },
    listTenants: async (name) =>
      (await scene.service.sql.query('select id from tenants where name = $1', [name])).rowCount ?? 0,
  }
}

/** Opens the form for a new tenant and enters a name. */
export async function typeTenant(page: Page, name: string) {
  await page.getByRole('button', { name: 'New tenant' }).first().click()
  const form = page.getByRole('dialog')
  const input = form.getByLabel('Name')
  await input.fill(name)
  return {
    form,
    failure: form.getByRole('alert'),
    create: () => form.getByRole('button', { name: 'Create' }).click(),
    expectInput: async () => expect(await input.inputValue()).toBe(name),
  }
}

/** Waits until an element contains all of these texts. */
export async function expectTexts(element: Locator, ...texts: string[]): Promise<void> {
  for (const text of texts) await element.getByText(text).first().waitFor()
}

export const expectAccessible = async (page: Page): Promise<void> =>
  expect(await violationsOf(page)).toEqual([])
