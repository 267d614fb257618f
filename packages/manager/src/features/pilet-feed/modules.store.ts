// SQL for the pilets that an application loads: the EnabledModules of the most specific settings layer that
// sets modules.

/**
 * SQL conditions that select the row `s` of each layer for an application `app`. The argument is an SQL expression for
 * the tenant.
 */
export const layerRows = {
  project: 's.project_id = app.project_id and s.tenant_id is null and s.application_id is null',
  application: 's.application_id = app.id and s.tenant_id is null',
  tenant: (tenantId: string): string =>
    `s.project_id = app.project_id and s.tenant_id = ${tenantId} and s.application_id is null`,
  leaf: (tenantId: string): string => `s.application_id = app.id and s.tenant_id = ${tenantId}`,
}

const modules = `s.backend_module_config -> 'EnabledModules'`

/** SQL condition for a row that sets modules. A row with an empty list inherits its modules. */
export const setsModules = `jsonb_typeof(${modules}) = 'array' and ${modules} <> '[]'`

/** Returns SQL for the modules of the first of these rows that sets modules, as a JSON array or null. */
export const buildModulesSql = (...rows: string[]): string =>
  `coalesce(${rows.map((row) => `(select ${modules} from settings s where ${row} and ${setsModules})`).join(', ')})`
