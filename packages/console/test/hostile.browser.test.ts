// Hostile names stay inert and do not break the layout, and every page keeps its own title. hostile.nightly.test.ts
// tests wide pages.
import { beforeAll, expect, test } from 'vitest'
import { type HostileObjects, hostileNames, seedHostileNames } from './kit/hostile-names.ts'
import { walkHostileNames } from './kit/hostile-walk.ts'
import { useConsole } from './kit/scene.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()
let ids: HostileObjects
beforeAll(async () => {
  ids = await seedHostileNames(scene)
})

test('at 360 px, hostile names stay inert on every page, in panels, dialogs and the search', async () => {
  const visit = await scene.visit(scene.admin, { width: 360 })
  expect(await walkHostileNames(visit, ids)).toEqual({ problems: {}, complaints: [] })
})

test('a panel shows a name exactly as it is', async () => {
  const visit = await scene.visit(scene.admin)
  const { go } = createWalk(visit)
  for (const kind of ['script', 'attribute', 'template', 'zeroWidth'] as const) {
    await go(`/p/main/tenants?open=${ids.tenants[kind]}`)
    expect(await visit.page.locator('.side-panel-title').textContent()).toBe(hostileNames[kind])
  }
})
