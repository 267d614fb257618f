// Tests the checks that run before features are created.
import { describe, expect, test } from 'vitest'
import { integer, defineSetting } from '../../src/config/readers.ts'
import {
  type FeatureDefinition,
  assertSettingsListed,
  collectFeatureRequirements,
} from '../../src/feature.ts'
import { settings } from '../../src/settings.ts'
import { minimalEnv, load } from '../kit/config.ts'

const create = () => ({ api: {} })
const maxNotes = defineSetting(integer(1, 2), {
  key: 'notes.max',
  env: 'SVC_NOTES_MAX',
  default: 1,
  doc: 'Notes.',
})

describe('a feature', () => {
  test('whose setting src/settings.ts does not list is named, and so is the setting', () => {
    const notes = { name: 'notes', settings: { maxNotes }, create }
    expect(() => assertSettingsListed([notes], { maxNotes })).not.toThrow()
    expect(() => assertSettingsListed([notes], settings)).toThrow(
      'src/settings.ts does not list the setting maxNotes of the feature notes; add it there',
    )
  })

  test('gets sockets only in a process of its role; its services are known to every process', () => {
    const ownServices = () => ['http://notes.example']
    const live: FeatureDefinition = { name: 'live', role: 'comms', maxSockets: () => 7, ownServices, create }
    const needs = (roles: string) =>
      collectFeatureRequirements([live], load({ ...minimalEnv, SVC_ROLES: roles }))
    expect(needs('api,comms')).toEqual({ maxSockets: 7, ownServices: ['http://notes.example'] })
    expect(needs('api')).toEqual({ maxSockets: 0, ownServices: ['http://notes.example'] })
  })
})
