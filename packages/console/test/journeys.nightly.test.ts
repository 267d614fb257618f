// The everyday journey of a new person with a pointer; journeys.browser.test.ts runs it with only the keyboard. The journey
// through integration, releases and evidence, with a pointer and with only the keyboard.
import { expect, test } from 'vitest'
import { makeJourney } from './kit/journey.ts'
import { makeIntegrationJourney } from './kit/journey-integration.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()

test('by pointer: from a new project to a member of it', async () => {
  expect(await makeJourney(scene, 'pointer')).toEqual([])
})

test.each(['keyboard', 'pointer'] as const)(
  'by %s: an endpoint, a trigger, a pilet, a translation, a deployment, a review and evidence',
  async (way) => {
    expect(await makeIntegrationJourney(scene, way)).toEqual([])
  },
  300_000,
)
