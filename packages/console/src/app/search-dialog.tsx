// Finds objects by name or id, and also pages and actions. Enter opens the selected result.
import { useNavigate } from '@tanstack/react-router'
import { graphql } from '@manager/client'
import { type ReactNode, useState } from 'react'
import {
  Dialog as AriaDialog,
  Autocomplete,
  Collection,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components'
import { connection } from '../api/connection.ts'
import { describeFailure } from '../api/failures.ts'
import { useRead } from '../api/requests.ts'
import { type Permission, shellProjectsDocument, shellSearchDocument } from '../generated/documents.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { useFailureText } from '../kit/state.tsx'
import { useReturnFocus } from '../kit/return-focus.ts'
import { useText } from '../texts/language.tsx'
import type { AddressSearch } from './list-search.ts'
import type { CurrentProject } from './project.tsx'
import { type SearchHit, findTarget, kindIcons } from './search-targets.ts'
import { projectSections, systemSections } from './sections.ts'
import { useDebounced } from './debounced.ts'

export type SearchDialogProps = {
  project: CurrentProject | null
  system: readonly Permission[]
  onCreateProject: (() => void) | null
  onClose: () => void
}

type Entry = {
  readonly id: string
  readonly icon: IconName
  readonly title: string
  readonly note: string
  readonly open: () => void | Promise<void>
}

const shortestText = 3

export function SearchDialog(props: SearchDialogProps): ReactNode {
  const { onClose } = props
  const t = useText()
  const describe = useFailureText()
  useReturnFocus()
  const [text, setText] = useState('')
  const query = useDebounced(text.trim())
  const isLongEnough = query.length >= shortestText
  const { data, error, isFetching } = useRead(
    shellSearchDocument,
    { text: query },
    { isEnabled: isLongEnough, keepsPrevious: true },
  )
  const objects = useObjectEntries(isLongEnough ? (data?.search.hits ?? []) : [], props)
  const pages = usePageEntries(text.trim(), props)
  // Objects arrive later than pages. If they were listed above the pages, they would push the marked page away just
  // before the person presses Enter.
  const sections = [
    { id: 'pages', title: t('app.searchPages'), entries: pages },
    { id: 'objects', title: t('app.searchObjects'), entries: objects },
  ].filter(({ entries }) => entries.length > 0)
  const all = new Map([...pages, ...objects].map((entry) => [entry.id, entry]))
  const choose = (id: string): void => {
    onClose()
    void all.get(id)?.open()
  }
  const note = findNote({ isLongEnough, isFetching, hits: objects.length, error })
  return (
    <ModalOverlay className="search-backdrop" isOpen isDismissable onOpenChange={onClose}>
      <Modal className="search-frame">
        <AriaDialog className="search-dialog" aria-label={t('app.search')}>
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField className="search-head" aria-label={t('app.search')} autoFocus>
              <Icon name="search" />
              <Input className="search-input" placeholder={t('app.searchHint')} maxLength={200} />
            </SearchField>
            <Menu
              className="menu search-results"
              aria-label={t('app.searchResults')}
              items={sections}
              onAction={(key) => choose(String(key))}
              renderEmptyState={() => null}
            >
              {(section) => (
                <MenuSection id={section.id}>
                  <Header className="menu-header">{section.title}</Header>
                  <Collection items={section.entries}>
                    {({ id, icon, title, note: subtitle }) => (
                      <MenuItem id={id} textValue={title} className="menu-item menu-row">
                        <Icon name={icon} />
                        <span className="truncate">{title}</span>
                        <span className="search-note truncate">{subtitle}</span>
                      </MenuItem>
                    )}
                  </Collection>
                </MenuSection>
              )}
            </Menu>
          </Autocomplete>
          <p className="search-foot" role="status">
            {note === 'failed' ? describe(describeFailure(error)) : t(note)}
            {note === 'app.searchFound' && data?.search.isComplete === false && ` ${t('app.searchMore')}`}
          </p>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

type NoteState = { isLongEnough: boolean; isFetching: boolean; hits: number; error: Error | null }

function findNote({ isLongEnough, isFetching, hits, error }: NoteState) {
  if (!isLongEnough) return 'app.searchTooShort'
  if (error !== null) return 'failed'
  if (hits > 0) return 'app.searchFound'
  return isFetching ? 'app.searching' : 'app.searchNothing'
}

/** Links to objects of other projects need the project slug, which the search does not return. */
async function findProjectSlug(id: string): Promise<string | null> {
  const { projectsConnection } = await graphql(connection, shellProjectsDocument, {
    filters: [{ field: 'id', value: id }],
    pagination: { limit: 1, offset: 0 },
  })
  return projectsConnection.nodes[0]?.slug ?? null
}

function useObjectEntries(
  hits: readonly SearchHit[],
  { project, system }: SearchDialogProps,
): readonly Entry[] {
  const t = useText()
  const navigate = useNavigate()
  const canOpenUsers = system.includes('USER_WRITE')
  const open = async (hit: SearchHit): Promise<void> => {
    if (hit.kind === 'user') {
      await navigate({ to: '/system/users', search: { open: hit.id } as never })
      return
    }
    const target = findTarget(hit)
    const slug =
      hit.projectId === project?.id ? project?.slug : await findProjectSlug(hit.projectId ?? hit.id)
    if (target === null || slug === undefined || slug === null) return
    await navigate({
      to: `/p/${slug}/${target.section}` as '/',
      search: target.search satisfies AddressSearch as never,
    })
  }
  return hits
    .filter((hit) => (hit.kind === 'user' ? canOpenUsers : findTarget(hit) !== null))
    .map((hit) => ({
      id: `${hit.kind}:${hit.id}`,
      icon: kindIcons[hit.kind] ?? 'search',
      title: hit.title,
      note: [t('app.searchKind', hit.kind), findEnvironmentName(hit, project), hit.subtitle]
        .filter((part) => part !== null)
        .join(' · '),
      open: () => open(hit),
    }))
}

const findEnvironmentName = (hit: SearchHit, project: CurrentProject | null): string | null =>
  project?.environments.find(({ id }) => id === hit.environmentId)?.name ?? null

function usePageEntries(
  text: string,
  { project, system, onCreateProject }: SearchDialogProps,
): readonly Entry[] {
  const t = useText()
  const navigate = useNavigate()
  const pages: Entry[] = [
    ...projectSections
      .flat()
      .filter(({ permission }) => project?.myPermissions.includes(permission) ?? false)
      .map(({ path, text: key, icon }) => ({
        id: `page:${path}`,
        icon,
        title: t(key as 'section.overview'),
        note: project?.name ?? '',
        open: () => navigate({ to: `/p/${project?.slug}/${path}` as '/' }),
      })),
    ...systemSections
      .filter(({ permission }) => system.includes(permission))
      .map(({ path, text: key, icon }) => ({
        id: `system:${path}`,
        icon,
        title: t(key as 'section.overview'),
        note: t('app.system'),
        open: () => navigate({ to: `/system/${path}` as '/' }),
      })),
    { id: 'me', icon: 'user', title: t('section.me'), note: '', open: () => navigate({ to: '/me' }) },
    {
      id: 'projects',
      icon: 'list',
      title: t('app.allProjects'),
      note: '',
      open: () => navigate({ to: '/' }),
    },
  ]
  if (onCreateProject !== null)
    pages.push({
      id: 'create-project',
      icon: 'add',
      title: t('app.createProject'),
      note: '',
      open: onCreateProject,
    })
  const wanted = text.toLocaleLowerCase()
  return pages.filter(({ title }) => title.toLocaleLowerCase().includes(wanted)).slice(0, 8)
}
