// The layout of every page: top bar, side bar, content.
import '../kit/popup.css'
import './shell.css'
import './top-bar.css'
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react'
import { useRead } from '../api/requests.ts'
import { type ShellMeResult, shellMeDocument } from '../generated/documents.ts'
import { IconButton } from '../kit/button.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { useText } from '../texts/language.tsx'
import { may } from './actions.ts'
import { AccountMenu, ThemeMenu } from './account-menu.tsx'
import { EnvironmentFilter } from './environment.tsx'
import { InboxMenu } from './inbox-menu.tsx'
import { Notices } from './notices.tsx'
import { type CurrentProject, useProjectRead } from './project.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { SearchButton } from './search-button.tsx'
import { type Section, projectSections, systemSections } from './sections.ts'
import { SideBar } from './side-bar.tsx'

const CreateProjectDialog = loadOnDemand(
  async () => (await import('./create-project.tsx')).CreateProjectDialog,
)

/** How often a visible page checks whether another person has signed in. */
const pollMs = 60_000

export function Shell(): ReactNode {
  const t = useText()
  const { project: slug } = useParams({ strict: false })
  const { project } = useProjectRead(slug)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const { data } = useRead(shellMeDocument, {}, { refetchMs: pollMs })
  const isOtherPerson = useOtherPerson(data?.me.id)
  const closeOnEscape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isMenuOpen) setMenuOpen(false)
  }
  // Removing all parts of the page also removes unsaved input, so the browser does not ask whether to stay.
  if (isOtherPerson) return null
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- Escape closes the menu from any control
    <div className="shell" data-menu={isMenuOpen ? '' : undefined} onKeyDown={closeOnEscape}>
      <a className="skip-link" href="#content">
        {t('app.skipToContent')}
      </a>
      <TopBar
        me={data?.me ?? null}
        project={project}
        isMenuOpen={isMenuOpen}
        onToggleMenu={() => setMenuOpen(!isMenuOpen)}
      />
      <SideBar
        project={project}
        system={data?.me.myPermissions ?? []}
        onNavigate={() => setMenuOpen(false)}
      />
      <main className="shell-content" id="content" tabIndex={-1}>
        <Notices />
        <div className="shell-page">
          <Outlet />
        </div>
      </main>
    </div>
  )
}

/**
 * Returns true if another person has signed in. Also loads the console again, so that no data or input of the first
 * person remains.
 */
function useOtherPerson(id: string | undefined): boolean {
  const [firstId, setFirstId] = useState(id)
  if (firstId === undefined && id !== undefined) setFirstId(id)
  const isOther = id !== undefined && firstId !== undefined && id !== firstId
  useEffect(() => {
    if (isOther) location.replace('/console/')
  }, [isOther])
  return isOther
}

/** Returns the section that the address names. */
function useSection(): Section | null {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const last = path.split('/').findLast((part) => part !== '')
  return [...projectSections.flat(), ...systemSections].find((section) => section.path === last) ?? null
}

type TopBarProps = {
  me: ShellMeResult['me'] | null
  project: CurrentProject | null
  isMenuOpen: boolean
  onToggleMenu: () => void
}

function TopBar({ me, project, isMenuOpen, onToggleMenu }: TopBarProps): ReactNode {
  const t = useText()
  const section = useSection()
  const [isCreating, setCreating] = useState(false)
  const canCreate = may(me, 'projects.create')
  return (
    <header className="top-bar">
      <span className="top-bar-menu">
        <IconButton
          icon={isMenuOpen ? 'close' : 'menu'}
          label={isMenuOpen ? t('app.closeMenu') : t('app.menu')}
          onPress={onToggleMenu}
        />
      </span>
      <div className="top-bar-start">
        <Link to="/" className="logo" aria-label={t('app.home')}>
          <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
            <rect width="24" height="24" rx="6" className="logo-box" />
            <path d="M7 16.500v-9l5 5.500 5-5.500v9" className="logo-mark" />
          </svg>
        </Link>
        <ProjectSwitcher
          name={project?.name ?? t('app.name')}
          slug={project?.slug ?? null}
          section={section === null ? null : t(section.text as 'section.overview')}
          onCreate={canCreate ? () => setCreating(true) : null}
        />
      </div>
      {project !== null && project.environments.length > 0 && (
        <EnvironmentFilter environments={project.environments} />
      )}
      <span className="top-bar-gap" />
      <SearchButton
        project={project}
        system={me?.myPermissions ?? []}
        onCreateProject={canCreate ? () => setCreating(true) : null}
      />
      <InboxMenu />
      <ThemeMenu />
      <AccountMenu me={me} />
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
    </header>
  )
}
