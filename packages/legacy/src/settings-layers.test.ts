import { describe, expect, test } from 'vitest'
import { type Layers, mergeLayers } from '@manager/manager/rules'
import {
  type Configs,
  addClone,
  createCommonSettings,
  createEmptyConfigs,
  isEmpty,
  computeLeafSettings,
} from './settings-layers.ts'

/** Returns the effective values, regardless of the layer that sets them. */
function meaningOf(layers: Layers): unknown {
  const { backend, frontend } = mergeLayers(layers)
  return JSON.parse(JSON.stringify({ backend, frontend }), (key, value: unknown) =>
    key === 'layer' ? undefined : value,
  )
}

/** A small random number generator that returns the same numbers for the same seed. */
const numbers = (seed: number) => (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((seed / 2_147_483_648) * below)
}

function randomConfigs(pick: (below: number) => number, most: number): Configs {
  const configs = createEmptyConfigs()
  const list = (): string[] => Array.from({ length: pick(3) }, () => `m${pick(3)}`)
  const pairs = () => {
    const keys = [...new Set(Array.from({ length: pick(most) }, () => `k${pick(6)}`))]
    return keys.map((Key) => ({ Key, Value: `v${pick(2)}` }))
  }
  configs.backend = { EnabledModules: list(), KeyValuePairs: pairs() }
  configs.frontend = {
    EnabledThemes: list(),
    DefaultTheme: pick(2) === 0 ? '' : `t${pick(2)}`,
    EnabledLocales: list(),
    DefaultLocale: pick(2) === 0 ? '' : 'en',
    KeyValuePairs: pairs(),
  }
  return configs
}

describe('settings of clones', () => {
  test('mean the same for every tenant once what they have in common is the application’s', () => {
    let shared = 0
    for (let seed = 1; seed <= 1_000; seed++) {
      const pick = numbers(seed)
      const project = randomConfigs(pick, 4)
      const same = randomConfigs(pick, 6)
      const tenants = Array.from({ length: 1 + pick(4) }, () => ({
        tenant: pick(2) === 0 ? createEmptyConfigs() : randomConfigs(pick, 3),
        clone: pick(2) === 0 ? structuredClone(same) : randomConfigs(pick, 6),
      }))
      const common = createCommonSettings()
      for (const { tenant, clone } of tenants) addClone(common, clone, project, tenant)
      const application = common.configs ?? createEmptyConfigs()
      shared += isEmpty(application) ? 0 : 1
      for (const { tenant, clone } of tenants) {
        const leaf = computeLeafSettings({ project, application, tenant, clone })
        expect(meaningOf({ project, application, tenant, tenant2application: leaf }), `seed ${seed}`).toEqual(
          meaningOf({ project, application: tenant, tenant: clone }),
        )
      }
    }
    expect(shared).toBeGreaterThan(300)
  })

  test('that are all alike leave nothing with the tenants', () => {
    const clone = createEmptyConfigs()
    clone.frontend.DefaultTheme = 'dark'
    clone.frontend.KeyValuePairs = [{ Key: 'a', Value: '1' }]
    const [common, none] = [createCommonSettings(), createEmptyConfigs()]
    for (let count = 0; count < 3; count++) addClone(common, clone, none, none)
    const application = common.configs ?? createEmptyConfigs()
    expect(application).toEqual(clone)
    expect(isEmpty(computeLeafSettings({ project: none, application, tenant: none, clone }))).toBe(true)
  })
})
