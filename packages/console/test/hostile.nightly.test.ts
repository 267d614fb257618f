// Hostile names on wide pages. hostile.browser.test.ts tests narrow pages.
import { expect, test } from 'vitest'
import { seedHostileNames } from './kit/hostile-names.ts'
import { walkHostileNames } from './kit/hostile-walk.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()

test('at 1280 px, hostile names stay inert on every page, in panels, dialogs and the search', async () => {
  const ids = await seedHostileNames(scene)
  const visit = await scene.visit(scene.admin, { width: 1280 })
  expect(await walkHostileNames(visit, ids)).toEqual({ problems: {}, complaints: [] })
})
