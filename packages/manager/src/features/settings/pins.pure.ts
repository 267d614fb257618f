// Pins of pilets are one value in the frontend settings: a JSON object that maps pilet names to versions.
import { badRequest, conflict } from '../../platform/errors.ts'
import type { KeyChanges, KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { parseObject, pinsKey } from './reserved-keys.pure.ts'

export type PinChanges = {
  readonly set?: readonly { readonly name: string; readonly version: string }[] | null
  readonly unset?: readonly string[] | null
}

/** Returns the change to the key that stores the pins. If no pins are left, the key is removed. */
export function changePins(pairs: readonly KeyValuePair[], changes: readonly PinChanges[]): KeyChanges {
  const storedText = pairs.find(({ Key }) => Key === pinsKey)?.Value
  const storedPins = storedText === undefined ? {} : parseObject(storedText)
  if (storedPins === null)
    throw conflict(
      'the stored pilets.pins are not a JSON object; replace them with updateFrontendModuleConfig',
    )
  const pins = new Map<string, unknown>(Object.entries(storedPins))
  const changedNames = new Set<string>()
  const claim = (name: string): string => {
    if (changedNames.has(name))
      throw badRequest(`changes must name the pilet ${JSON.stringify(name.slice(0, 100))} only once`)
    changedNames.add(name)
    return name
  }
  for (const { set, unset } of changes) {
    for (const name of unset ?? []) pins.delete(claim(name))
    for (const { name, version } of set ?? []) pins.set(claim(name), version)
  }
  if (pins.size === 0) return { unset: [pinsKey] }
  return { set: [{ Key: pinsKey, Value: JSON.stringify(Object.fromEntries(pins)) }] }
}
