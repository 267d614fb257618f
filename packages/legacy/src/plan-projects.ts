// Plans projects and tenants. The type of a tenant determines the environment of its resources. The new tenant has
// no type.
import { defaultEnvironments, seededTenantRoles } from '@manager/manager/rules'
import { deriveId, toNewId } from './ids.ts'
import { type Project, type TypeEnvironments, deriveEnvironmentId } from './project.ts'
import type { OldProject, OldTenant } from './rows.ts'
import type { RuleName } from './rules.ts'
import { type NewRow, type Step, createCreationEvent, createMovedStep } from './steps.ts'
import { type NamePool, createNamePool, fitName, fitSlug } from './texts.ts'

/** Returns the rules for changed names, descriptions and slugs, and the old values. */
export function describeChangedTexts(
  oldTexts: Record<string, string | null>,
  newTexts: Record<string, string>,
): {
  rules: RuleName[]
  detail: Record<string, unknown>
} {
  const changedTexts = Object.entries(oldTexts).filter(([field, value]) => value !== newTexts[field])
  const isSlugChanged = changedTexts.some(([field]) => field === 'slug')
  return {
    rules: [
      ...(changedTexts.length > (isSlugChanged ? 1 : 0) ? (['name-fitted'] as const) : []),
      ...(isSlugChanged ? (['slug-fitted'] as const) : []),
    ],
    detail: changedTexts.length === 0 ? {} : { was: Object.fromEntries(changedTexts) },
  }
}

/** Returns the creation time of a row. Rows without a creation time get the time of the import. */
export const pickCreatedAt = (row: { created_at: string | null }): { created_at?: string } =>
  row.created_at === null ? {} : { created_at: row.created_at }

export async function* planProject(row: OldProject, slugs: NamePool): AsyncGenerator<Step, Project, void> {
  const id = toNewId('projects', row.id)
  const texts = {
    name: fitName(row.name, row.slug ?? row.id),
    slug: fitSlug(row.slug, row.name ?? row.id, slugs),
  }
  const environments = defaultEnvironments.map((environment): NewRow => ({
    table: 'environments',
    values: {
      id: deriveEnvironmentId(id, environment.name),
      project_id: id,
      name: environment.name,
      display_name: environment.displayName,
      sort_order: environment.sortOrder,
      protected: environment.protected,
    },
  }))
  yield createMovedStep('projects', row.id, id, {
    ...describeChangedTexts({ name: row.name, slug: row.slug }, texts),
    rows: [{ table: 'projects', values: { id, ...texts, ...pickCreatedAt(row) } }, ...environments],
    events: [
      createCreationEvent('project', { projectId: id, id, name: texts.slug }, texts, { oldId: row.id }),
    ],
  })
  return { oldId: row.id, id, tenants: new Map(), clones: new Map(), machineUsers: new Map() }
}

export async function* planTenants(
  project: Project,
  rows: AsyncIterable<OldTenant>,
  types: TypeEnvironments,
): AsyncGenerator<Step, void, void> {
  const slugs = createNamePool()
  for await (const row of rows) {
    const id = toNewId('tenants', row.id)
    const texts = {
      name: fitName(row.name, row.slug ?? row.id),
      slug: fitSlug(row.slug, row.name ?? row.id, slugs),
    }
    const environment = types[row.type ?? '']
    if (environment === undefined)
      throw new Error(`the tenant type ${row.type} has no environment; this is a bug in the import`)
    project.tenants.set(row.id, { id, slug: texts.slug, environment })
    const deploymentMode = row.deployment_mode === 'dedicated' ? 'dedicated' : 'shared'
    const roles = seededTenantRoles.map((role): NewRow => ({
      table: 'tenant_role_definitions',
      values: {
        id: deriveId('tenant-role', id, role.name),
        project_id: project.id,
        tenant_id: id,
        name: role.name,
        permissions: role.permissions,
        seeded: role.seeded,
      },
    }))
    const { rules, detail } = describeChangedTexts({ name: row.name, slug: row.slug }, texts)
    yield createMovedStep('tenants', row.id, id, {
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
            ...pickCreatedAt(row),
          },
        },
        ...roles,
      ],
      events: [
        createCreationEvent(
          'tenant',
          { projectId: project.id, id, name: texts.slug },
          { ...texts, deploymentMode },
          { oldId: row.id },
        ),
      ],
    })
  }
}
