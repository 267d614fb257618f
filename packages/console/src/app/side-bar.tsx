// The sections of the project and of the installation that the caller may open.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../api/requests.ts'
import { type Permission, type ShellCountsResult, shellCountsDocument } from '../generated/documents.ts'
import { Icon } from '../kit/icon.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import type { AddressSearch } from './list-search.ts'
import type { CurrentProject } from './project.tsx'
import { type Section, projectSections, systemSections } from './sections.ts'

/** Pages outside of projects that every caller may open. */
const ownSections: readonly Section[] = [
  { path: '', text: 'projects.title', icon: 'list', permission: 'PROJECT_LIST' },
  { path: 'me', text: 'section.me', icon: 'user', permission: 'SELF_READ' },
]

type SideBarProps = {
  project: CurrentProject | null
  system: readonly Permission[]
  onNavigate: () => void
}

export function SideBar({ project, system, onNavigate }: SideBarProps): ReactNode {
  const t = useText()
  const counts = useCounts(project)
  const systemItems = systemSections.filter(({ permission }) => system.includes(permission))
  return (
    <nav className="side-bar" aria-label={t('app.menu')}>
      {project === null && (
        <SectionGroup sections={ownSections} base="" counts={{}} onNavigate={onNavigate} />
      )}
      {project !== null &&
        projectSections
          .map((group) => group.filter(({ permission }) => project.myPermissions.includes(permission)))
          .filter((group) => group.length > 0)
          .map((group) => (
            <SectionGroup
              key={group[0]?.path}
              sections={group}
              base={`/p/${project.slug}`}
              counts={counts}
              onNavigate={onNavigate}
            />
          ))}
      {systemItems.length > 0 && (
        <>
          <h2 className="side-bar-title">{t('app.system')}</h2>
          <SectionGroup sections={systemItems} base="/system" counts={{}} onNavigate={onNavigate} />
        </>
      )}
    </nav>
  )
}

type Counts = Readonly<Record<string, string>>

/** Reads the numbers of rows in the lists, in one request. */
function useCounts(project: CurrentProject | null): Counts {
  const { number } = useFormat()
  const can = (permission: Permission): boolean => project?.myPermissions.includes(permission) ?? false
  const { data } = useRead(
    shellCountsDocument,
    {
      id: project?.id ?? '',
      slug: project?.slug ?? '',
      tenants: can('TENANT_LIST'),
      applications: can('APPLICATION_LIST'),
      languagePacks: can('LANGUAGE_PACK_READ'),
      members: can('PROJECT_MEMBER_READ'),
      machineUsers: can('MACHINE_USER_READ'),
    },
    { isEnabled: project !== null },
  )
  const lists: Partial<ShellCountsResult> = data ?? {}
  const entries = [
    ['tenants', lists.tenantsConnection],
    ['applications', lists.applicationsConnection],
    ['language-packs', lists.languagePacksConnection],
    ['members', lists.user2projectsConnection],
    ['machine-users', lists.projectMachineUsersConnection],
  ] as const
  return Object.fromEntries(
    entries.flatMap(([path, list]) =>
      list === undefined ? [] : [[path, `${number(list.totalCount)}${list.isTotalExact ? '' : '+'}`]],
    ),
  )
}

type GroupProps = { sections: readonly Section[]; base: string; counts: Counts; onNavigate: () => void }

function SectionGroup({ sections, base, counts, onNavigate }: GroupProps): ReactNode {
  const t = useText()
  return (
    <ul className="side-bar-group">
      {sections.map(({ path, text, icon }) => (
        <li key={path}>
          <Link
            to={`${base}/${path}` as '/'}
            // Only the search parameter for the environment applies to other sections.
            search={((previous: AddressSearch) => ({ env: previous['env'] })) as never}
            className="side-bar-item"
            activeOptions={{ includeSearch: false, exact: true }}
            activeProps={{ 'data-current': '' }}
            onClick={onNavigate}
          >
            <Icon name={icon} />
            <span className="truncate">{t(text)}</span>
            {counts[path] !== undefined && <span className="side-bar-count numbers">{counts[path]}</span>}
          </Link>
        </li>
      ))}
    </ul>
  )
}
