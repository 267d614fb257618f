// The everyday journey of a new person by pointer. journeys.browser.test.ts makes it by the keyboard alone.
import { expect, test } from 'vitest'
import { makeJourney } from './kit/journey.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()

test('by pointer: from a new project to a member of it', async () => {
  expect(await makeJourney(scene, 'pointer')).toEqual([])
})
