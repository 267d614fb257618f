// Reads the four layers of settings of the chosen application and tenant.
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { settingsLayerDocument, settingsPairDocument } from '../../generated/documents.ts'
import { type Layer, type Layers, emptyLayer, toLayer } from './layers.ts'

type PairData = {
  readonly tenant2Applications: readonly { readonly settings: Parameters<typeof toLayer>[0] | null }[]
}
const toPairLayer = (data: PairData): Layer | null => {
  const [row] = data.tenant2Applications
  if (row === undefined) return null
  return row.settings === null ? emptyLayer : toLayer(row.settings)
}

export type LayersRead = {
  /** Undefined while the layers are loading. */
  readonly layers: Layers | undefined
  /** The row of the application in the tenant; null if there is none. */
  readonly pair: { readonly id: string; readonly enabled: boolean } | null
  readonly failure: Failure | null
  /** Reads all layers again and returns them. */
  readonly refetch: () => Promise<Layers>
}

export function useLayers(projectId: string, application: string | null, tenant: string | null): LayersRead {
  const hasBoth = application !== null && tenant !== null
  const ofProject = useRead(settingsLayerDocument, { project: projectId }, { isSensitive: true })
  const ofApplication = useRead(
    settingsLayerDocument,
    { application },
    { isEnabled: application !== null, isSensitive: true },
  )
  const ofTenant = useRead(
    settingsLayerDocument,
    { tenant },
    { isEnabled: tenant !== null, isSensitive: true },
  )
  const ofPair = useRead(
    settingsPairDocument,
    { application: application ?? '', tenant: tenant ?? '' },
    { isEnabled: hasBoth, isSensitive: true },
  )
  const reads = [ofProject, ofApplication, ofTenant, ofPair]
  const error = reads.find((read) => read.error !== null)?.error ?? null
  const isLoading =
    ofProject.data === undefined ||
    (application !== null && ofApplication.data === undefined) ||
    (tenant !== null && ofTenant.data === undefined) ||
    (hasBoth && ofPair.data === undefined)
  const collect = (): Layers => ({
    project: ofProject.data === undefined ? null : toLayer(ofProject.data.settings),
    application: ofApplication.data === undefined ? null : toLayer(ofApplication.data.settings),
    tenant: ofTenant.data === undefined ? null : toLayer(ofTenant.data.settings),
    tenant2application: ofPair.data === undefined ? null : toPairLayer(ofPair.data),
  })
  const refetch = async (): Promise<Layers> => {
    const options = { throwOnError: true }
    const [project, ofApp, ofTen, pair] = await Promise.all([
      ofProject.refetch(options),
      application === null ? null : ofApplication.refetch(options),
      tenant === null ? null : ofTenant.refetch(options),
      hasBoth ? ofPair.refetch(options) : null,
    ])
    return {
      project: project.data === undefined ? null : toLayer(project.data.settings),
      application: ofApp?.data === undefined ? null : toLayer(ofApp.data.settings),
      tenant: ofTen?.data === undefined ? null : toLayer(ofTen.data.settings),
      tenant2application: pair?.data === undefined ? null : toPairLayer(pair.data),
    }
  }
  return {
    layers: isLoading ? undefined : collect(),
    pair: ofPair.data?.tenant2Applications[0] ?? null,
    failure: error === null ? null : describeFailure(error),
    refetch,
  }
}
