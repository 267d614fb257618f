// Module configurations of an old installation: fields with the right shape are kept, the others are reported. Pure.
import type { KeyValuePair } from '@manager/manager/rules'
import { type Configs, emptyConfigs } from './settings-layers.ts'

type Shaped = { configs: Configs; leftOut: string[] }

/** Returns the configurations of a row, and the names of the omitted fields. */
export function shapeConfigs(backend: unknown, frontend: unknown): Shaped {
  const configs = emptyConfigs()
  const leftOut: string[] = []
  for (const [side, given] of [
    ['backend', backend],
    ['frontend', frontend],
  ] as const) {
    if (given === null || given === undefined) continue
    if (typeof given !== 'object' || Array.isArray(given)) {
      leftOut.push(side)
      continue
    }
    const target = configs[side] as Record<string, unknown>
    for (const [field, value] of Object.entries(given)) {
      const shaped = Object.hasOwn(target, field) ? shapeField(target[field], field, value) : undefined
      if (shaped === undefined) leftOut.push(`${side}.${field.slice(0, 100)}`)
      else target[field] = shaped
    }
  }
  return { configs, leftOut }
}

/** Returns undefined if the value is not valid for this field. */
function shapeField(empty: unknown, field: string, value: unknown): unknown {
  if (value === null) return empty
  if (typeof empty === 'string') return typeof value === 'string' ? value : undefined
  if (!Array.isArray(value)) return undefined
  if (field === 'KeyValuePairs') return shapePairs(value)
  return value.every((entry) => typeof entry === 'string') ? value : undefined
}

/** A duplicate key keeps the position of the first pair and the value of the last pair. */
function shapePairs(pairs: readonly unknown[]): KeyValuePair[] | undefined {
  const shaped = new Map<string, string>()
  for (const pair of pairs) {
    if (typeof pair !== 'object' || pair === null) return undefined
    const { Key, Value } = pair as Partial<KeyValuePair>
    if (typeof Key !== 'string' || typeof Value !== 'string') return undefined
    shaped.set(Key, Value)
  }
  return [...shaped].map(([Key, Value]) => ({ Key, Value }))
}
