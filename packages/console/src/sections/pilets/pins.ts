// Pins a version in the settings of a tenant, or of an application in a tenant. The settings of an application in a
// tenant are created if they do not exist.
import { graphql } from '@manager/client'
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { connection } from '../../api/connection.ts'
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import {
  createPairSettingsDocument,
  piletLayerSettingsDocument,
  piletPairSettingsDocument,
  piletPinsDocument,
} from '../../generated/documents.ts'
import type { UsageEntry } from './pilet-types.ts'

/** The objects of a settings layer; null for objects that the layer does not have. */
export type PinLayer = { readonly tenantId: string | null; readonly applicationId: string | null }
type SettingsRow = { readonly id: string; readonly revision: number }
/** Where pins of a layer are stored. */
type PinTarget =
  | { readonly kind: 'settings'; readonly settings: SettingsRow }
  /** The application is enabled for the tenant, but has no settings there yet. */
  | { readonly kind: 'pair'; readonly pairId: string }
  /** The application was never enabled for the tenant. */
  | { readonly kind: 'missing' }
type PinChange = {
  readonly target: PinTarget
  readonly name: string
  /** The version to pin; null removes the pin. */
  readonly version: string | null
}

export const toLayer = ({ tenant, application }: UsageEntry): PinLayer => ({
  tenantId: tenant?.id ?? null,
  applicationId: application?.id ?? null,
})

/** Returns the version that a layer pins; null if it pins none. */
export const findPin = (
  entries: readonly UsageEntry[],
  { tenantId, applicationId }: PinLayer,
): string | null =>
  entries.find(
    ({ tenant, application }) =>
      (tenant?.id ?? null) === tenantId && (application?.id ?? null) === applicationId,
  )?.pinnedVersion ?? null

type PairRow = { readonly id: string; readonly settings: SettingsRow | null }

const toPairTarget = (row: PairRow | undefined): PinTarget => {
  if (row === undefined) return { kind: 'missing' }
  return row.settings === null
    ? { kind: 'pair', pairId: row.id }
    : { kind: 'settings', settings: row.settings }
}

/** Returns the argument of `settings` for a layer, which accepts exactly one object. */
function toOwner(project: string, { tenantId, applicationId }: PinLayer) {
  if (tenantId !== null) return { tenant: tenantId }
  return applicationId === null ? { project } : { application: applicationId }
}

/** Reads where pins of a layer are stored; undefined until it is known. */
export function usePinTarget(layer: PinLayer, isEnabled: boolean) {
  const { id: project } = useProject()
  const { tenantId, applicationId } = layer
  const isPair = tenantId !== null && applicationId !== null
  const pair = useRead(
    piletPairSettingsDocument,
    { tenant: tenantId ?? '', application: applicationId ?? '' },
    { isEnabled: isEnabled && isPair },
  )
  const single = useRead(piletLayerSettingsDocument, toOwner(project, layer), {
    isEnabled: isEnabled && !isPair,
  })
  const { data, error } = isPair ? pair : single
  const target = ((): PinTarget | undefined => {
    if (data === undefined) return undefined
    return 'settings' in data
      ? { kind: 'settings', settings: data.settings }
      : toPairTarget(data.tenant2Applications[0])
  })()
  return { target, error }
}

/** Reads where pins of a layer are stored, for a change without a dialog. */
export async function findPinTarget(project: string, layer: PinLayer): Promise<PinTarget> {
  const { tenantId, applicationId } = layer
  if (tenantId === null || applicationId === null) {
    const { settings } = await graphql(connection, piletLayerSettingsDocument, toOwner(project, layer))
    return { kind: 'settings', settings }
  }
  const pair = { tenant: tenantId, application: applicationId }
  return toPairTarget((await graphql(connection, piletPairSettingsDocument, pair)).tenant2Applications[0])
}

async function savePin(project: string, { target, name, version }: PinChange): Promise<void> {
  if (target.kind === 'missing') return
  const { id, revision } =
    target.kind === 'settings'
      ? target.settings
      : (await graphql(connection, createPairSettingsDocument, { pair: target.pairId }))
          .ensureTenant2ApplicationSettings
  const change = version === null ? { unset: [name] } : { set: [{ name, version }] }
  await graphql(connection, piletPinsDocument, {
    project,
    changes: [{ settingsId: id, expectedRevision: revision, ...change }],
  })
}

export function usePinChange(): UseMutationResult<void, Error, PinChange> {
  const { id: project } = useProject()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: PinChange) => savePin(project, change),
    onSuccess: () => client.invalidateQueries(),
    onError: () => void client.invalidateQueries(),
  })
}
