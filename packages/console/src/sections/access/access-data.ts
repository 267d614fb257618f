// The rows of the matrix: which applications the tenants on the page use.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { type ApplicationName } from '../../app/applications.ts'
import { type SettingsContent, listOwnSettings } from '../../app/own-settings.ts'
import { useCan } from '../../app/project.tsx'
import type { TenantListResult } from '../../generated/documents.ts'

export type AccessTenant = TenantListResult['tenantsConnection']['nodes'][number]
/** The row for a tenant and an application, with the number of its own settings. */
export type AccessRow = {
  readonly id: string
  readonly enabled: boolean
  readonly revision: number
  readonly settingsCount: number
}
/** Rows by tenant id, then by application id. Tenants without an entry are still loading. */
export type AccessRows = ReadonlyMap<string, ReadonlyMap<string, AccessRow>>

type ReadRow = {
  readonly id: string
  readonly enabled: boolean
  readonly revision: number
  readonly application: { readonly id: string }
  readonly settings?: SettingsContent | null
}

const pageSize = 100
/** The keys are counted; their values can be secrets. */
const settingsFields =
  'settings { revision backendSetting { moduleConfig { EnabledModules KeyValuePairs { Key } } } frontendSetting { moduleConfig { EnabledThemes DefaultTheme EnabledLocales DefaultLocale KeyValuePairs { Key } } } }'

/** Returns one field for each page of rows that a tenant can have. */
const createRowFields = (applicationCount: number, hasSettings: boolean): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.max(1, Math.ceil(applicationCount / pageSize)) }, (_, page) => [
      `rows${page}x`,
      `tenant2Applications(tenantId: $id, pagination: { limit: ${pageSize}, offset: ${page * pageSize} }) { id enabled revision application { id } ${hasSettings ? settingsFields : ''} }`,
    ]),
  )

/** Reads the rows for the tenants on the page. */
export function useAccessRows(tenants: readonly AccessTenant[], applicationCount: number | undefined) {
  const canReadSettings = useCan('SETTINGS_READ')
  const fields = useMemo(
    () => createRowFields(applicationCount ?? 0, canReadSettings),
    [applicationCount, canReadSettings],
  )
  const ids = useMemo(() => tenants.map(({ id }) => id), [tenants])
  const read = useBatchedReads<Record<string, readonly ReadRow[]>>({
    name: 'access-rows',
    ids,
    fields,
    isEnabled: applicationCount !== undefined,
    isSensitive: canReadSettings,
  })
  const rows = useMemo(
    (): AccessRows =>
      new Map(
        [...(read.data ?? [])].map(([id, pages]) => [
          id,
          new Map(
            Object.values(pages).flatMap((page) => page.map((row) => [row.application.id, toRow(row)])),
          ),
        ]),
      ),
    [read.data],
  )
  return { rows, error: read.error, refetch: () => void read.refetch() }
}

const toRow = ({ id, enabled, revision, settings }: ReadRow): AccessRow => ({
  id,
  enabled,
  revision,
  settingsCount: settings === undefined || settings === null ? 0 : listOwnSettings(settings).length,
})

const enabledTenants =
  'tenant2ApplicationsConnection(applicationId: $id, filters: [{ field: "enabled", value: "true" }], pagination: { limit: 1, offset: 0 }) { totalCount isTotalExact }'

/** Reads the number of tenants that use each application. */
export function useTenantTotals(applications: readonly ApplicationName[]): ReadonlyMap<string, string> {
  const ids = useMemo(() => applications.map(({ id }) => id), [applications])
  const { data } = useBatchedReads<{ total: { totalCount: number; isTotalExact: boolean } }>({
    name: 'access-totals',
    ids,
    fields: { total: enabledTenants },
  })
  return useMemo(
    () =>
      new Map(
        [...(data ?? [])].map(([id, { total }]) => [
          id,
          `${total.totalCount}${total.isTotalExact ? '' : '+'}`,
        ]),
      ),
    [data],
  )
}
