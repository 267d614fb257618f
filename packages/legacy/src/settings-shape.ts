// Reads module configurations of an old installation. Keeps fields with the right shape and reports all others.
// All functions here are pure.
import type { KeyValuePair } from '@manager/manager/rules'
import { type Configs, createEmptyConfigs } from './settings-layers.ts'

type ShapedConfigs = { configs: Configs; omittedFields: string[] }

/** Returns the configurations of a row, and the names of the omitted fields. */
export function shapeConfigs(backend: unknown, frontend: unknown): ShapedConfigs {
  const configs = createEmptyConfigs()
  const omittedFields: string[] = []
  for (const [side, config] of [
    ['backend', backend],
    ['frontend', frontend],
  ] as const) {
    if (config === null || config === undefined) continue
    if (typeof config !== 'object' || Array.isArray(config)) {
      omittedFields.push(side)
      continue
    }
    const target = configs[side] as Record<string, unknown>
    for (const [field, value] of Object.entries(config)) {
      const shapedValue = Object.hasOwn(target, field) ? shapeField(target[field], field, value) : undefined
      if (shapedValue === undefined) omittedFields.push(`${side}.${field.slice(0, 100)}`)
      else target[field] = shapedValue
    }
  }
  return { configs, omittedFields }
}

/** Returns the value in the shape of this field, or undefined if the value is not valid. */
function shapeField(empty: unknown, field: string, value: unknown): unknown {
  if (value === null) return empty
  if (typeof empty === 'string') return typeof value === 'string' ? value : undefined
  if (!Array.isArray(value)) return undefined
  if (field === 'KeyValuePairs') return shapePairs(value)
  return value.every((entry) => typeof entry === 'string') ? value : undefined
}

/**
 * Returns the pairs without duplicates. A duplicate key keeps the position of the first pair and the value of
 * the last pair.
 */
function shapePairs(pairs: readonly unknown[]): KeyValuePair[] | undefined {
  const shapedPairs = new Map<string, string>()
  for (const pair of pairs) {
    if (typeof pair !== 'object' || pair === null) return undefined
    const { Key, Value } = pair as Partial<KeyValuePair>
    if (typeof Key !== 'string' || typeof Value !== 'string') return undefined
    shapedPairs.set(Key, Value)
  }
  return [...shapedPairs].map(([Key, Value]) => ({ Key, Value }))
}
