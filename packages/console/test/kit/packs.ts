// Helpers for tests of the grid of language packs: a project with the packs `en` and `de`.
import type { Locator, Page } from 'playwright-core'
import { beforeAll } from 'vitest'
import { languagePackCalls, pair } from '../../../manager/test/kit/language-packs.ts'
import type { Scene, Visit } from './scene.ts'

export const packsPath = '/p/main/language-packs'
export const findGrid = (page: Page): Locator => page.getByRole('grid', { name: 'Language packs' })
/** Finds a cell by its key and the position of its locale; de is 0 and en is 1. */
export const findCell = (page: Page, key: string, column = 0): Locator =>
  findGrid(page).getByRole('row', { name: key }).getByRole('gridcell').nth(column)

/** Counts the requests that save translations. */
export function countSaves(page: Page): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.postData()?.includes('mutation packSave') === true) count++
  })
  return () => count
}

/** Creates the packs before the tests. */
export function usePacks(scene: Scene) {
  const calls = languagePackCalls(() => scene.service)
  const ids = { de: '', en: '' }
  beforeAll(async () => {
    ids.en = await calls.make(scene.admin, scene.project.id, 'en', [
      pair('app.title', 'Shop'),
      pair('orders.empty', 'No orders'),
      pair('orders.late', 'Late'),
      pair('orders.title', 'Orders'),
      pair('zoom', 'Zoom'),
    ])
    ids.de = await calls.make(scene.admin, scene.project.id, 'de', [pair('app.title', 'Laden')])
  })
  return {
    ids,
    /** Opens the grid as a new developer. */
    openAs: async (name: string): Promise<Visit> => {
      const visit = await scene.visit(await scene.member(name, 'developer'))
      await visit.open(packsPath)
      await findCell(visit.page, 'app.title').waitFor()
      return visit
    },
    readPack: async (name: keyof typeof ids): Promise<Record<string, string>> => {
      const { data } = await calls.list(scene.admin, scene.project.id)
      const packs = data.packs as { name: string; content: { Key: string; Value: string }[] }[]
      const content = packs.find((one) => one.name === name)?.content ?? []
      return Object.fromEntries(content.map(({ Key, Value }) => [Key, Value]))
    },
  }
}
