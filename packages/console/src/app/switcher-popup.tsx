// Finds a project by a part of its name. The API does the search.
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button as AriaButton, Autocomplete, Input, Menu, MenuItem, SearchField } from 'react-aria-components'
import { describeFailure } from '../api/failures.ts'
import { useRead } from '../api/requests.ts'
import { shellProjectsDocument } from '../generated/documents.ts'
import { Button } from '../kit/button.tsx'
import { DialogPopup } from '../kit/dialog-popup.tsx'
import { Icon } from '../kit/icon.tsx'
import type { Popup } from '../kit/popup-button.tsx'
import { useText } from '../texts/language.tsx'
import { useDebounced } from './debounced.ts'

type SwitcherPopupProps = { popup: Popup; slug: string | null; onCreate: (() => void) | null }

export function SwitcherPopup({ popup, slug, onCreate }: SwitcherPopupProps): ReactNode {
  const t = useText()
  return (
    <DialogPopup
      popup={popup}
      label={t('app.projects')}
      placement="bottom start"
      className="popover switcher"
      dialogClassName="switcher-dialog"
    >
      <ProjectFinder slug={slug} onClose={popup.close} />
      <div className="switcher-foot">
        {onCreate !== null && (
          <Button
            variant="quiet"
            size="small"
            icon="add"
            action="projects.create"
            onPress={() => {
              popup.close()
              onCreate()
            }}
          >
            {t('app.createProject')}
          </Button>
        )}
      </div>
    </DialogPopup>
  )
}

function ProjectFinder({ slug, onClose }: { slug: string | null; onClose: () => void }): ReactNode {
  const t = useText()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const query = useDebounced(text.trim())
  const { data, error } = useRead(
    shellProjectsDocument,
    {
      filters: query === '' ? [] : [{ field: 'name', value: query }],
      pagination: { limit: 25, offset: 0 },
    },
    { keepsPrevious: true },
  )
  const result = data?.projectsConnection
  const open = (key: string): void => {
    onClose()
    if (key === '') void navigate({ to: '/' })
    else void navigate({ to: '/p/$project/overview', params: { project: key } })
  }
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField className="search-field" data-wide="" aria-label={t('app.findProject')} autoFocus>
        <Icon name="search" />
        <Input className="search-input" placeholder={t('app.findProject')} />
      </SearchField>
      <Menu
        className="menu"
        aria-label={t('app.projects')}
        items={result?.nodes ?? []}
        selectionMode="single"
        // Otherwise Escape would clear the selection instead of closing the popup.
        disallowEmptySelection
        selectedKeys={slug === null ? [] : [slug]}
        onAction={(key) => open(String(key))}
        renderEmptyState={() => (
          <p className="menu-note">
            {error !== null && describeFailure(error).message}
            {error === null && (result === undefined ? t('kit.loading') : t('app.noProjectMatches'))}
          </p>
        )}
      >
        {(project) => (
          <MenuItem id={project.slug} textValue={project.name} className="menu-item">
            <span className="truncate">{project.name}</span>
            <span className="truncate muted mono">{project.slug}</span>
          </MenuItem>
        )}
      </Menu>
      {result !== undefined && result.totalCount > result.nodes.length && (
        <p className="menu-note">{t('app.moreProjects')}</p>
      )}
      <AriaButton className="menu-item switcher-all" onPress={() => open('')}>
        {t('app.allProjects')}
      </AriaButton>
    </Autocomplete>
  )
}
