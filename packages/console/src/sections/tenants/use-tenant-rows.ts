// The applications of a project with their rows in one tenant.
import { useMemo } from 'react'
import { useAllRows } from '../../api/all-rows.ts'
import { useApplicationNames } from '../../app/applications.ts'
import { listOwnSettings } from '../../app/own-settings.ts'
import {
  type TenantApplicationsResult,
  tenantApplicationSettingsDocument,
  tenantApplicationsDocument,
} from '../../generated/documents.ts'
import type { Tenant } from './tenant-types.ts'

type Row = TenantApplicationsResult['tenant2ApplicationsConnection']['nodes'][number]
export type TenantApplication = {
  readonly application: { readonly id: string; readonly name: string; readonly slug: string }
  /** Null if the application was never added to the tenant. */
  readonly row: Omit<Row, 'application'> | null
  /** The number of settings in the row; null if it is unknown, or if the caller may not read it. */
  readonly settingsCount: number | null
  /** The revision of the settings of the row; 0 if the row has no settings. */
  readonly settingsRevision: number
}

type TenantApplications = {
  readonly items: readonly TenantApplication[] | undefined
  readonly error: Error | null
  readonly refetch: () => void
}

/**
 * Reads the rows of a tenant. Applications that the caller may not list are included if the tenant has a row for them.
 */
export function useTenantRows(tenant: Pick<Tenant, 'id' | 'myPermissions'>): TenantApplications {
  const names = useApplicationNames()
  const rows = useAllRows({
    document: tenantApplicationsDocument,
    variables: { tenant: tenant.id },
    select: (result) => result.tenant2ApplicationsConnection,
  })
  const settings = useAllRows(
    {
      document: tenantApplicationSettingsDocument,
      variables: { tenant: tenant.id },
      select: (result) => result.tenant2ApplicationsConnection,
    },
    { isEnabled: tenant.myPermissions.includes('SETTINGS_READ'), isSensitive: true },
  )
  const items = useMemo(() => {
    if (names.data === undefined || rows.data === undefined) return undefined
    const rowsByApplication = new Map(rows.data.rows.map((row) => [row.application.id, row]))
    const settingsByRow = new Map(settings.data?.rows.map((row) => [row.id, row.settings]))
    const applications = new Map(
      [...rows.data.rows.map(({ application }) => application), ...names.data.rows].map((application) => [
        application.id,
        application,
      ]),
    )
    return [...applications.values()]
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map((application): TenantApplication => {
        const row = rowsByApplication.get(application.id) ?? null
        const own = row === null ? null : settingsByRow.get(row.id)
        return {
          application,
          row,
          settingsCount: own === undefined ? null : own === null ? 0 : listOwnSettings(own).length,
          settingsRevision: own?.revision ?? 0,
        }
      })
  }, [names.data, rows.data, settings.data])
  return {
    items,
    error: names.error ?? rows.error,
    refetch: () => {
      void names.refetch()
      void rows.refetch()
    },
  }
}
