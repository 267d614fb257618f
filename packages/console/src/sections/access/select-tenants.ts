// Filters the rows of a page. The API cannot filter tenants by their rows, so the filter applies only to the current
// page.
import type { ApplicationName } from '../../app/applications.ts'
import type { AccessRows, AccessTenant } from './access-data.ts'
import { type Marks, createMarkKey } from './access-marks.ts'

type Matrix = {
  tenants: readonly AccessTenant[]
  applications: readonly ApplicationName[]
  rows: AccessRows
  marks: Marks
}

/** Returns the tenants to show: those with own settings, those with marked changes, or all. */
export function selectTenants(
  show: string | undefined,
  { tenants, applications, rows, marks }: Matrix,
): readonly AccessTenant[] {
  if (show === 'own')
    return tenants.filter((tenant) =>
      applications.some(({ id }) => (rows.get(tenant.id)?.get(id)?.settingsCount ?? 0) > 0),
    )
  if (show === 'changed')
    return tenants.filter((tenant) =>
      applications.some(({ id }) => marks.byKey.has(createMarkKey(tenant.id, id))),
    )
  return tenants
}
