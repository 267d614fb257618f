// SQL conditions for the memberships that a person may read: those in projects and tenants whose members the person may
// list. Each set is an array, which PostgreSQL computes once per statement.
import { type RawBuilder, sql } from 'kysely'

/** True if the person may read the members of the project in this column, that is, of their own projects. */
export const createReadableProjectSql = (projectId: string, readerId: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(projectId)} = any(array(
    select mine.project_id from user2projects mine where mine.user_id = ${readerId}))`

/** True if a tenant role of the person permits reading the members of the tenant in this column. */
export const createReadableTenantSql = (tenantId: string, readerId: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(tenantId)} = any(array(
    select mine.tenant_id from user2tenants mine
    where mine.user_id = ${readerId} and (
      select 'members' = any(d.permissions) from tenant_role_definitions d
      where d.tenant_id = mine.tenant_id and d.name = mine.role_name)))`
