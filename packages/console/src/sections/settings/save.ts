// Saves edits: first the keys of all layers in one atomic change, then the lists and defaults of each layer and part.
import { graphql } from '@manager/client'
import { connection } from '../../api/connection.ts'
import {
  createPairSettingsDocument,
  saveBackendListsDocument,
  saveFrontendListsDocument,
  saveSettingsKeysDocument,
} from '../../generated/documents.ts'
import {
  type Edits,
  type Field,
  type LayerName,
  type Layers,
  layerNames,
  splitList,
  toCellId,
} from './layers.ts'

export type Edit = { readonly layer: LayerName; readonly field: Field; readonly value: string | null }
export type SaveTarget = {
  readonly projectId: string
  /** The row of the application in the tenant, whose settings may not exist yet. */
  readonly pairId: string | null
  readonly layers: Layers
}
type Row = { id: string; revision: number }

export const listEdits = (edits: Edits, fields: readonly Field[]): readonly Edit[] =>
  layerNames.flatMap((layer) =>
    fields.flatMap((field) => {
      const value = edits.get(toCellId(layer, field))
      return value === undefined ? [] : [{ layer, field, value }]
    }),
  )

async function findRows(
  edits: readonly Edit[],
  { pairId, layers }: SaveTarget,
): Promise<Map<LayerName, Row>> {
  const rows = new Map<LayerName, Row>()
  for (const layer of new Set(edits.map((edit) => edit.layer))) {
    const { settingsId, revision } = layers[layer] ?? { settingsId: null, revision: 0 }
    if (settingsId !== null) rows.set(layer, { id: settingsId, revision })
    else if (layer === 'tenant2application' && pairId !== null) {
      const result = await graphql(connection, createPairSettingsDocument, { pair: pairId })
      rows.set(layer, result.ensureTenant2ApplicationSettings)
    }
  }
  return rows
}

const parts = ['frontend', 'backend'] as const

async function saveKeys(projectId: string, edits: readonly Edit[], rows: Map<LayerName, Row>): Promise<void> {
  const changes = [...rows].flatMap(([layer, { id, revision }]) =>
    parts.flatMap((part) => {
      const own = edits.filter((edit) => edit.layer === layer && edit.field.part === part)
      if (own.length === 0) return []
      const set = own.flatMap(({ field, value }) =>
        value === null ? [] : [{ Key: field.key, Value: value }],
      )
      const unset = own.filter(({ value }) => value === null).map(({ field }) => field.key)
      return [{ settingsId: id, part, set, unset, expectedRevision: revision }]
    }),
  )
  if (changes.length === 0) return
  const { setSettingsKeys } = await graphql(connection, saveSettingsKeysDocument, {
    project: projectId,
    changes,
  })
  for (const [layer, { id }] of rows) {
    const saved = setSettingsKeys.find((row) => row.id === id)
    if (saved !== undefined) rows.set(layer, saved)
  }
}

/** An empty list or text makes the layer inherit the value again. */
const toInput = (edits: readonly Edit[]): Record<string, string | string[]> =>
  Object.fromEntries(
    edits.map(({ field, value }) => [
      field.key,
      field.kind === 'list' ? splitList(value ?? '') : (value ?? ''),
    ]),
  )

async function saveLists(edits: readonly Edit[], part: Field['part'], { id, revision }: Row): Promise<Row> {
  const input = { ...toInput(edits), expectedRevision: revision }
  if (part === 'backend')
    return (await graphql(connection, saveBackendListsDocument, { id, input })).updateBackendModuleConfig
  return (await graphql(connection, saveFrontendListsDocument, { id, input })).updateFrontendModuleConfig
}

/**
 * Saves the edits and calls `onSaved` after each step, because a later step can fail. Throws the error of the API. If
 * a layer has changed since it was read, the error has the code `CONFLICT`.
 */
export async function saveEdits(
  edits: readonly Edit[],
  target: SaveTarget,
  onSaved: (saved: readonly Edit[]) => void,
): Promise<void> {
  const rows = await findRows(edits, target)
  const pairs = edits.filter(({ field }) => field.kind === 'pair')
  await saveKeys(target.projectId, pairs, rows)
  onSaved(pairs)
  for (const [layer, row] of rows) {
    let current = row
    for (const part of parts) {
      const own = edits.filter(
        (edit) => edit.layer === layer && edit.field.part === part && edit.field.kind !== 'pair',
      )
      if (own.length === 0) continue
      current = await saveLists(own, part, current)
      onSaved(own)
    }
  }
}
