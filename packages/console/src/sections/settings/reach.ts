// Determines which tenants and applications load a value of a layer.
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { settingsObjectReachDocument, settingsProjectReachDocument } from '../../generated/documents.ts'
import { useText } from '../../texts/language.tsx'
import type { LayerName } from './layers.ts'

export type Names = { readonly application: string | null; readonly tenant: string | null }
type Ids = { readonly application: string | null; readonly tenant: string | null }

/** Returns a text for each layer, such as "Acme Hotels, reaches 5 applications". Counts are read only if there are edits. */
export function useReach(ids: Ids, names: Names, isEnabled: boolean): Readonly<Record<LayerName, string>> {
  const t = useText()
  const { slug } = useProject()
  const project = useRead(settingsProjectReachDocument, { project: slug }, { isEnabled })
  const application = useRead(
    settingsObjectReachDocument,
    { application: ids.application },
    { isEnabled: isEnabled && ids.application !== null },
  )
  const tenant = useRead(
    settingsObjectReachDocument,
    { tenant: ids.tenant },
    { isEnabled: isEnabled && ids.tenant !== null },
  )
  const tenants = application.data?.tenant2ApplicationsConnection.totalCount
  const applications = tenant.data?.tenant2ApplicationsConnection.totalCount
  return {
    project:
      project.data === undefined
        ? ''
        : t(
            'settings.reach.project',
            project.data.applicationsConnection.totalCount,
            project.data.tenantsConnection.totalCount,
          ),
    application:
      tenants === undefined ? '' : t('settings.reach.application', tenants, names.application ?? ''),
    tenant: applications === undefined ? '' : t('settings.reach.tenant', applications, names.tenant ?? ''),
    tenant2application: t('settings.reach.tenant2application', names.application ?? '', names.tenant ?? ''),
  }
}
