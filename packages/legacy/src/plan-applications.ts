// Clones become one application of the project. Each clone becomes a row that enables this application for its tenant.
import { type Clone, type Group, groupClones } from './groups.ts'
import { deriveId, toNewId } from './ids.ts'
import { pickCreatedAt, describeChangedTexts } from './plan-projects.ts'
import { createSettingsRow } from './plan-settings.ts'
import { type Project, type TenantTarget, deriveApplicationSettingsId } from './project.ts'
import type { OldApplication } from './rows.ts'
import type { Configs } from './settings-layers.ts'
import { type NewRow, type Step, createCreationEvent, createMergedStep, createMovedStep } from './steps.ts'
import { type NamePool, createNamePool, fitName, fitSlug, fitText } from './texts.ts'
import type { AuditEvent } from '@manager/manager/storage'

const maxDescriptionLength = 2_000

/** Reads and groups the applications. Keeps those of one project in memory, without their settings. */
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

type PlannedGroup = { group: Group; configs: Configs; slugs: NamePool }

function* planGroup(project: Project, { group, configs, slugs }: PlannedGroup): Generator<Step, void, void> {
  const { canonical: canonicalClone, clones } = group
  const applicationId = toNewId('applications', canonicalClone.id)
  const texts = {
    name: fitName(canonicalClone.name, canonicalClone.slug ?? canonicalClone.id),
    slug: fitSlug(canonicalClone.slug, canonicalClone.name ?? canonicalClone.id, slugs),
    description: fitText(canonicalClone.description, maxDescriptionLength),
  }
  const application: NewRow = {
    table: 'applications',
    values: { id: applicationId, project_id: project.id, ...texts, ...pickCreatedAt(canonicalClone) },
  }
  const settings = createSettingsRow(
    { id: deriveApplicationSettingsId(applicationId), projectId: project.id, tenantId: null, applicationId },
    configs,
  )
  for (const clone of clones) {
    const tenant = clone.tenant_id === null ? null : (project.tenants.get(clone.tenant_id) ?? null)
    project.clones.set(clone.id, { applicationId, tenant, group })
    const tenantLink = tenant === null ? null : createTenantLink(project, { clone, applicationId, tenant })
    const tenantContent = {
      rows: tenantLink ? [tenantLink.row] : [],
      events: tenantLink ? [tenantLink.event] : [],
    }
    if (clone === canonicalClone) {
      const { rules, detail } = describeChangedTexts(pickTexts(canonicalClone), texts)
      yield createMovedStep('applications', clone.id, applicationId, {
        rules: [...rules, ...(group.ordinal > 1 ? (['second-clone'] as const) : [])],
        detail: { ...detail, ...tenantLink?.detail },
        rows: [application, ...settings.rows, ...tenantContent.rows],
        events: [
          createCreationEvent(
            'application',
            { projectId: project.id, id: applicationId, name: texts.slug },
            texts,
            {
              oldId: clone.id,
            },
          ),
          ...settings.events,
          ...tenantContent.events,
        ],
      })
      continue
    }
    const differingTexts = Object.entries(pickTexts(clone)).filter(
      ([field, value]) => (value ?? '') !== (pickTexts(canonicalClone)[field as keyof Texts] ?? ''),
    )
    yield createMergedStep('applications', clone.id, applicationId, {
      rules: differingTexts.length > 0 ? ['clone-texts'] : [],
      detail: {
        ...(differingTexts.length > 0 && { was: Object.fromEntries(differingTexts) }),
        ...tenantLink?.detail,
      },
      ...tenantContent,
    })
  }
}

type Texts = Pick<Clone, 'name' | 'slug' | 'description'>
const pickTexts = ({ name, slug, description }: Clone): Texts => ({
  name,
  slug,
  description: description ?? '',
})

/**
 * Creates the row that enables the application for the tenant. It gets the id of the clone, unless the
 * application uses that id.
 */
function createTenantLink(
  project: Project,
  { clone, applicationId, tenant }: { clone: Clone; applicationId: string; tenant: TenantTarget },
): { row: NewRow; event: AuditEvent; detail: Record<string, unknown> } {
  const cloneId = toNewId('applications', clone.id)
  const id = cloneId === applicationId ? deriveId('tenant2applications', clone.id) : cloneId
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
        ...pickCreatedAt(clone),
      },
    },
    event: createCreationEvent('tenant2Application', { projectId: project.id, id, name: id }, fields, {
      oldId: clone.id,
    }),
    detail: { tenant2application: id },
  }
}
