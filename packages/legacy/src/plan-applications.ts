// Clones become one application of the project. Each clone becomes the row that enables the application for its tenant.
import { type Clone, type Group, groupClones } from './groups.ts'
import { derivedId, keptId } from './ids.ts'
import { createdAt, fitted } from './plan-projects.ts'
import { settingsRow } from './plan-settings.ts'
import { type Project, type TenantTarget, applicationSettingsId } from './project.ts'
import type { OldApplication } from './rows.ts'
import type { Configs } from './settings-layers.ts'
import { type NewRow, type Step, creationEvent, merged, moved } from './steps.ts'
import { type NamePool, createNamePool, fitName, fitSlug, fitText } from './texts.ts'
import type { AuditEvent } from '@manager/manager/storage'

const maxDescriptionLength = 2_000

/** Keeps the applications of one project in memory, without their settings. */
export async function readGroups(rows: AsyncIterable<OldApplication>): Promise<Group[]> {
  const clones: Clone[] = []
  for await (const row of rows) {
    const { id, tenant_id, clone_of, slug, name, description, created_at } = row
    clones.push({
      id,
      tenant_id,
      clone_of,
      slug,
      name,
      description,
      created_at,
      enabled: row.enabled === true,
    })
  }
  return groupClones(clones)
}

/** Plans the applications, each with the settings that its clones have in common. */
export function* planApplications(
  project: Project,
  common: ReadonlyMap<Group, Configs>,
): Generator<Step, void, void> {
  const slugs = createNamePool()
  for (const [group, configs] of common) yield* planGroup(project, { group, configs, slugs })
}

type Planned = { group: Group; configs: Configs; slugs: NamePool }

function* planGroup(project: Project, { group, configs, slugs }: Planned): Generator<Step, void, void> {
  const { canonical, clones } = group
  const applicationId = keptId('applications', canonical.id)
  const texts = {
    name: fitName(canonical.name, canonical.slug ?? canonical.id),
    slug: fitSlug(canonical.slug, canonical.name ?? canonical.id, slugs),
    description: fitText(canonical.description, maxDescriptionLength),
  }
  const application: NewRow = {
    table: 'applications',
    values: { id: applicationId, project_id: project.id, ...texts, ...createdAt(canonical) },
  }
  const settings = settingsRow(
    { id: applicationSettingsId(applicationId), projectId: project.id, tenantId: null, applicationId },
    configs,
  )
  for (const clone of clones) {
    const tenant = clone.tenant_id === null ? null : (project.tenants.get(clone.tenant_id) ?? null)
    project.clones.set(clone.id, { applicationId, tenant, group })
    const joined = tenant === null ? null : joinOf(project, { clone, applicationId, tenant })
    const own = { rows: joined ? [joined.row] : [], events: joined ? [joined.event] : [] }
    if (clone === canonical) {
      const { rules, detail } = fitted(pickTexts(canonical), texts)
      yield moved('applications', clone.id, applicationId, {
        rules: [...rules, ...(group.ordinal > 1 ? (['second-clone'] as const) : [])],
        detail: { ...detail, ...joined?.detail },
        rows: [application, ...settings.rows, ...own.rows],
        events: [
          creationEvent(
            'application',
            { projectId: project.id, id: applicationId, name: texts.slug },
            texts,
            {
              oldId: clone.id,
            },
          ),
          ...settings.events,
          ...own.events,
        ],
      })
      continue
    }
    const differing = Object.entries(pickTexts(clone)).filter(
      ([field, value]) => (value ?? '') !== (pickTexts(canonical)[field as keyof Texts] ?? ''),
    )
    yield merged('applications', clone.id, applicationId, {
      rules: differing.length > 0 ? ['clone-texts'] : [],
      detail: { ...(differing.length > 0 && { was: Object.fromEntries(differing) }), ...joined?.detail },
      ...own,
    })
  }
}

type Texts = Pick<Clone, 'name' | 'slug' | 'description'>
const pickTexts = ({ name, slug, description }: Clone): Texts => ({
  name,
  slug,
  description: description ?? '',
})

/** The row that enables the application for the tenant gets the id of the clone, unless the application has that id. */
function joinOf(
  project: Project,
  { clone, applicationId, tenant }: { clone: Clone; applicationId: string; tenant: TenantTarget },
): { row: NewRow; event: AuditEvent; detail: Record<string, unknown> } {
  const own = keptId('applications', clone.id)
  const id = own === applicationId ? derivedId('tenant2applications', clone.id) : own
  const fields = { tenantId: tenant.id, applicationId, enabled: clone.enabled }
  return {
    row: {
      table: 'tenant2applications',
      values: {
        id,
        project_id: project.id,
        tenant_id: tenant.id,
        application_id: applicationId,
        enabled: clone.enabled,
        ...createdAt(clone),
      },
    },
    event: creationEvent('tenant2Application', { projectId: project.id, id, name: id }, fields, {
      oldId: clone.id,
    }),
    detail: { tenant2application: id },
  }
}
