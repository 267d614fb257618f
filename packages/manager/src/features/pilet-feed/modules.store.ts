// Which pilets an application loads, as SQL: the list EnabledModules of the most specific layer of settings that has one.

/** The row of each layer, `s`, for an application `app`; the last two are those of a tenant, an SQL expression. */
export const layerRows = {
  project: 's.project_id = app.project_id and s.tenant_id is null and s.application_id is null',
  application: 's.application_id = app.id and s.tenant_id is null',
  tenant: (tenantId: string): string =>
    `s.project_id = app.project_id and s.tenant_id = ${tenantId} and s.application_id is null`,
  leaf: (tenantId: string): string => `s.application_id = app.id and s.tenant_id = ${tenantId}`,
}

const modules = `s.backend_module_config -> 'EnabledModules'`

/** Whether the row sets modules; an empty list inherits. */
export const setsModules = `jsonb_typeof(${modules}) = 'array' and ${modules} <> '[]'`

/** The modules of the first of these rows that sets any, as a JSON array; null when none does. */
export const modulesOf = (...rows: string[]): string =>
  `coalesce(${rows.map((row) => `(select ${modules} from settings s where ${row} and ${setsModules})`).join(', ')})`
