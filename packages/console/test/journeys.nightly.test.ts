// The everyday journey of a new person with a pointer. journeys.browser.test.ts runs it with only the keyboard.
import { expect, test } from 'vitest'
import { makeJourney } from './kit/journey.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()

test('by pointer: from a new project to a member of it', async () => {
  expect(await makeJourney(scene, 'pointer')).toEqual([])
})
