// Projects and tenants. The type of a tenant becomes the environment of its resources. The tenant itself has no type.
import { defaultEnvironments, seededTenantRoles } from '@manager/manager/rules'
import { derivedId, keptId } from './ids.ts'
import { type Project, type Types, environmentId } from './project.ts'
import type { OldProject, OldTenant } from './rows.ts'
import type { RuleName } from './rules.ts'
import { type NewRow, type Step, creationEvent, moved } from './steps.ts'
import { type NamePool, createNamePool, fitName, fitSlug } from './texts.ts'

/** Returns the rules for the texts that had to be changed, and the old texts. */
export function fitted(
  given: Record<string, string | null>,
  used: Record<string, string>,
): {
  rules: RuleName[]
  detail: Record<string, unknown>
} {
  const changed = Object.entries(given).filter(([field, value]) => value !== used[field])
  const hasSlug = changed.some(([field]) => field === 'slug')
  return {
    rules: [
      ...(changed.length > (hasSlug ? 1 : 0) ? (['name-fitted'] as const) : []),
      ...(hasSlug ? (['slug-fitted'] as const) : []),
    ],
    detail: changed.length === 0 ? {} : { was: Object.fromEntries(changed) },
  }
}

/** Rows without a creation time get the time of the import. */
export const createdAt = (row: { created_at: string | null }): { created_at?: string } =>
  row.created_at === null ? {} : { created_at: row.created_at }

export async function* planProject(row: OldProject, slugs: NamePool): AsyncGenerator<Step, Project, void> {
  const id = keptId('projects', row.id)
  const texts = {
    name: fitName(row.name, row.slug ?? row.id),
    slug: fitSlug(row.slug, row.name ?? row.id, slugs),
  }
  const environments = defaultEnvironments.map((environment): NewRow => ({
    table: 'environments',
    values: {
      id: environmentId(id, environment.name),
      project_id: id,
      name: environment.name,
      display_name: environment.displayName,
      sort_order: environment.sortOrder,
      protected: environment.protected,
    },
  }))
  yield moved('projects', row.id, id, {
    ...fitted({ name: row.name, slug: row.slug }, texts),
    rows: [{ table: 'projects', values: { id, ...texts, ...createdAt(row) } }, ...environments],
    events: [creationEvent('project', { projectId: id, id, name: texts.slug }, texts, { oldId: row.id })],
  })
  return { oldId: row.id, id, tenants: new Map(), clones: new Map(), machineUsers: new Map() }
}

export async function* planTenants(
  project: Project,
  rows: AsyncIterable<OldTenant>,
  types: Types,
): AsyncGenerator<Step, void, void> {
  const slugs = createNamePool()
  for await (const row of rows) {
    const id = keptId('tenants', row.id)
    const texts = {
      name: fitName(row.name, row.slug ?? row.id),
      slug: fitSlug(row.slug, row.name ?? row.id, slugs),
    }
    const environment = types[row.type ?? '']
    if (environment === undefined) throw new Error(`the tenant type ${row.type} was not resolved`)
    project.tenants.set(row.id, { id, slug: texts.slug, environment })
    const deploymentMode = row.deployment_mode === 'dedicated' ? 'dedicated' : 'shared'
    const roles = seededTenantRoles.map((role): NewRow => ({
      table: 'tenant_role_definitions',
      values: {
        id: derivedId('tenant-role', id, role.name),
        project_id: project.id,
        tenant_id: id,
        name: role.name,
        permissions: role.permissions,
        seeded: role.seeded,
      },
    }))
    const { rules, detail } = fitted({ name: row.name, slug: row.slug }, texts)
    yield moved('tenants', row.id, id, {
      rules,
      detail: { ...detail, environment },
      rows: [
        {
          table: 'tenants',
          values: {
            id,
            project_id: project.id,
            ...texts,
            deployment_mode: deploymentMode,
            ...createdAt(row),
          },
        },
        ...roles,
      ],
      events: [
        creationEvent(
          'tenant',
          { projectId: project.id, id, name: texts.slug },
          { ...texts, deploymentMode },
          { oldId: row.id },
        ),
      ],
    })
  }
}
