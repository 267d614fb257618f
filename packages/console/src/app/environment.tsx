// The environment to which project pages are limited. It is part of the address, as `env`.
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { EnvironmentBadge } from '../kit/badge.tsx'
import { Icon } from '../kit/icon.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { PopupButton, usePopup } from '../kit/popup-button.tsx'
import { useText } from '../texts/language.tsx'
import type { AddressSearch } from './list-search.ts'
import { type CurrentEnvironment, useProject } from './project.tsx'

const findEnvironment = (
  environments: readonly CurrentEnvironment[],
  search: AddressSearch,
): CurrentEnvironment | null => environments.find(({ name }) => name === search['env']) ?? null

/** Returns the environment that the current page is limited to; null for all environments. */
export function useEnvironment(): CurrentEnvironment | null {
  return findEnvironment(useProject().environments, useSearch({ strict: false }))
}

const EnvironmentPopup = loadOnDemand(async () => (await import('./environment-popup.tsx')).EnvironmentPopup)

export function EnvironmentFilter({
  environments,
}: {
  environments: readonly CurrentEnvironment[]
}): ReactNode {
  const t = useText()
  const popup = usePopup()
  const current = findEnvironment(environments, useSearch({ strict: false }))
  return (
    <>
      <PopupButton
        popup={popup}
        kind="menu"
        className="environment-button"
        label={t('app.environmentFilter', current?.name ?? t('app.allEnvironments'))}
        onApproach={EnvironmentPopup.preload}
      >
        {current === null ? (
          <span className="badge" data-tone="environment">
            <span className="wide-only">{t('app.allEnvironments')}</span>
            <span className="narrow-only">{t('app.allShort')}</span>
          </span>
        ) : (
          <EnvironmentBadge name={current.name} isProtected={current.protected} />
        )}
        <Icon name="chevronDown" size={12} />
      </PopupButton>
      {popup.isOpen && (
        <EnvironmentPopup popup={popup} environments={environments} current={current?.name ?? null} />
      )}
    </>
  )
}
