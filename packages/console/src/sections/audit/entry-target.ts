// The page that shows the object of an entry.
import { type Target, findTarget } from '../../app/search-targets.ts'
import { hasSection } from '../../app/sections.ts'
import { type Entry, findOwners } from './entry.ts'
import type { Names } from './use-names.ts'

/** Lists the pages that can show the object, the best one first. */
function listTargets(entry: Entry, names: Names): readonly (Target | null)[] {
  const { tenant, application, user } = findOwners(entry)
  const hit = names?.get(entry.entityID)
  const ofApplication =
    application === null ? null : { section: 'applications', search: { open: application } }
  const ofTenant = (tab: string): Target | null =>
    tenant === null ? null : { section: 'tenants', search: { open: tenant, tab } }
  switch (entry.entityType) {
    case 'settings':
      return [
        {
          section: 'settings',
          search: { tenant: tenant ?? undefined, application: application ?? undefined },
        },
      ]
    case 'user2project':
    case 'user2tenant':
    case 'user2application':
      return [user === null ? null : { section: 'members', search: { open: user } }]
    case 'tenant2Application':
      return [ofTenant('applications')]
    case 'tenantRoleDefinition':
      return [ofTenant('roles')]
    default:
      return [hit === undefined ? null : findTarget(hit), ofApplication]
  }
}

/** Returns the page of the object; null if it no longer exists, or if the console has no page for it. */
export const findEntryTarget = (entry: Entry, names: Names): Target | null =>
  listTargets(entry, names).find((target) => target !== null && hasSection(target.section)) ?? null
