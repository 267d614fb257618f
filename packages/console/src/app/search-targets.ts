// Determines the page that shows an object that the search found.
import type { ShellSearchResult } from '../generated/documents.ts'
import type { IconName } from '../kit/icon.tsx'
import type { AddressSearch } from './list-search.ts'
import { projectSections } from './sections.ts'

export type SearchHit = ShellSearchResult['search']['hits'][number]

export const kindIcons: Readonly<Record<string, IconName>> = {
  project: 'overview',
  tenant: 'tenants',
  application: 'applications',
  environment: 'columns',
  endpoint: 'esb',
  trigger: 'triggers',
  triggerRun: 'triggers',
  machineUser: 'machineUsers',
  languagePack: 'language',
  piletPackage: 'pilets',
  user: 'user',
  loggedCall: 'list',
}

export type Target = {
  readonly section: string
  readonly search: AddressSearch
}

const sectionPaths = new Set(projectSections.flat().map(({ path }) => path))

/** Lists the pages that can show a hit, with the best one first. */
function listTargets(hit: SearchHit): readonly Target[] {
  const { kind, id, title, subtitle, applicationId, triggerId } = hit
  const application = { section: 'applications', search: { open: applicationId ?? undefined } }
  switch (kind) {
    case 'project':
      return [{ section: 'overview', search: {} }]
    case 'tenant':
      return [{ section: 'tenants', search: { open: id } }]
    case 'application':
      return [{ section: 'applications', search: { open: id } }]
    case 'environment':
      return [{ section: 'machine-users', search: { env: title } }]
    case 'endpoint':
      return [{ section: 'esb', search: { open: id } }, application]
    case 'loggedCall':
      // The subtitle is the request id, which finds the call without its time.
      return [
        { section: 'calls', search: { application: applicationId ?? undefined, q: subtitle ?? undefined } },
        application,
      ]
    case 'trigger':
      return [{ section: 'triggers', search: { open: id } }, application]
    case 'triggerRun':
      return [{ section: 'triggers', search: { open: triggerId ?? undefined, run: id } }, application]
    case 'machineUser':
      return [{ section: 'machine-users', search: { open: id } }]
    case 'languagePack':
      return [{ section: 'language-packs', search: { open: id } }]
    case 'piletPackage':
      return [{ section: 'pilets', search: { open: id } }]
    default:
      return []
  }
}

/** Returns the project page for a hit; null if no page shows such objects. */
export const findTarget = (hit: SearchHit): Target | null =>
  listTargets(hit).find(({ section }) => sectionPaths.has(section)) ?? null
