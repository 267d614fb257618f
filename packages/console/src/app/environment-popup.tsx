// The menu that limits a page to one environment.
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { MenuItem } from 'react-aria-components'
import { EnvironmentBadge } from '../kit/badge.tsx'
import { MenuPopup } from '../kit/menu-popup.tsx'
import type { Popup } from '../kit/popup-button.tsx'
import { useText } from '../texts/language.tsx'
import type { AddressSearch } from './list-search.ts'
import type { CurrentEnvironment } from './project.tsx'

const all = '*'

type EnvironmentPopupProps = {
  popup: Popup
  environments: readonly CurrentEnvironment[]
  /** The name of the chosen environment; null for all environments. */
  current: string | null
}

export function EnvironmentPopup({ popup, environments, current }: EnvironmentPopupProps): ReactNode {
  const t = useText()
  const navigate = useNavigate()
  const choose = (name: string): void =>
    void navigate({
      to: '.',
      search: ((previous: AddressSearch) => ({
        ...previous,
        env: name === all ? undefined : name,
        page: undefined,
      })) as never,
    })
  return (
    <MenuPopup
      popup={popup}
      label={t('app.environments')}
      placement="bottom start"
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[current ?? all]}
      onAction={choose}
    >
      <MenuItem id={all} className="menu-item menu-row" textValue={t('app.allEnvironments')}>
        {t('app.allEnvironments')}
      </MenuItem>
      {environments.map(({ id, name, displayName, protected: isProtected }) => (
        <MenuItem key={id} id={name} className="menu-item menu-row" textValue={name}>
          <EnvironmentBadge name={name} isProtected={isProtected} />
          <span className="truncate muted">{displayName}</span>
        </MenuItem>
      ))}
    </MenuPopup>
  )
}
