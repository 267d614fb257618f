// The everyday journey of a new person with only the keyboard. journeys.nightly.test.ts runs it with a pointer.
import { expect, test } from 'vitest'
import { makeJourney } from './kit/journey.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()

test('by keyboard: from a new project to a member of it', async () => {
  expect(await makeJourney(scene, 'keyboard')).toEqual([])
})
