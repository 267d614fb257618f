// Edits that are not saved yet. The layers are frozen at the first edit, so that values, revisions and edits stay
// consistent until the person saves.
import { useMemo, useState } from 'react'
import {
  type Edits,
  type Field,
  type LayerName,
  type Layers,
  joinList,
  layerNames,
  splitList,
  toCellId,
} from './layers.ts'
import type { Edit } from './save.ts'

type State = { readonly base: Layers | null; readonly edits: Edits }
const noDraft: State = { base: null, edits: new Map() }

export type Draft = {
  /** The layers that the edits change. Without edits, these are the latest layers. */
  readonly layers: Layers | undefined
  readonly edits: Edits
  /** Sets a value; null removes it. A value that equals the saved value is not an edit. */
  readonly edit: (layer: LayerName, field: Field, value: string | null) => void
  /** Resets a cell to its saved value. */
  readonly undo: (layer: LayerName, field: Field) => void
  readonly discard: () => void
  /** Replaces the layers and the edits. */
  readonly rebase: (layers: Layers, edits: readonly Edit[]) => void
}

/** An empty text or list counts as not set; a key-value pair can have an empty value. */
function normalize(field: Field, value: string | null): string | null {
  if (value === null || field.kind === 'pair') return value
  const text = field.kind === 'list' ? joinList(splitList(value)) : value.trim()
  return text === '' ? null : text
}

function withEdits(base: Layers, edits: Edits, changes: readonly Edit[]): State {
  const next = new Map(edits)
  for (const { layer, field, value } of changes) {
    const normal = normalize(field, value)
    const saved = base[layer]?.values.get(field.id) ?? null
    if (normal === saved) next.delete(toCellId(layer, field))
    else next.set(toCellId(layer, field), normal)
  }
  return next.size === 0 ? noDraft : { base, edits: next }
}

export function useDraft(latest: Layers | undefined): Draft {
  const [state, setState] = useState(noDraft)
  return useMemo(
    () => ({
      layers: state.base ?? latest,
      edits: state.edits,
      edit: (layer, field, value) =>
        setState(({ base, edits }) => {
          const layers = base ?? latest
          return layers === undefined ? noDraft : withEdits(layers, edits, [{ layer, field, value }])
        }),
      undo: (layer, field) =>
        setState(({ base, edits }) => {
          const next = new Map(edits)
          next.delete(toCellId(layer, field))
          return next.size === 0 ? noDraft : { base, edits: next }
        }),
      discard: () => setState(noDraft),
      rebase: (layers, edits) => setState(withEdits(layers, new Map(), edits)),
    }),
    [state, latest],
  )
}

/** Returns the layers with the edits applied. */
export function applyEdits(layers: Layers, edits: readonly Edit[]): Layers {
  const next = { ...layers }
  for (const name of layerNames) {
    const layer = layers[name]
    if (layer === null) continue
    const values = new Map(layer.values)
    for (const { layer: own, field, value } of edits) {
      if (own !== name) continue
      if (value === null) values.delete(field.id)
      else values.set(field.id, value)
    }
    next[name] = { ...layer, values }
  }
  return next
}
