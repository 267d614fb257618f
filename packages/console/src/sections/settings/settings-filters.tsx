// The choices on the settings page: the application, the tenant, the tenant to compare with, and the filter of the
// table.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { ApplicationPicker, TenantPicker } from '../../app/object-pickers.tsx'
import { useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { SearchField, Switch } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'

export function SettingsFilters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const { search, setFilter } = list
  const [text, setText] = useSearchText(list)
  const { application = null, tenant = null, compare } = search
  return (
    <>
      <div className="settings-pickers">
        <TenantPicker
          label={t('settings.layer.tenant')}
          id={tenant}
          onChange={(id) => setFilter({ tenant: id, compare: compare === id ? undefined : compare })}
        />
        <ApplicationPicker
          label={t('settings.layer.application')}
          id={application}
          onChange={(id) => setFilter({ application: id })}
        />
        <SearchField label={t('settings.search')} value={text} onChange={setText} />
        <span className="settings-switches">
          <Switch
            label={t('settings.showOverridden')}
            isSelected={search['overridden'] !== 'hidden'}
            onChange={(isOn) => setFilter({ overridden: isOn ? undefined : 'hidden' })}
          />
          <Switch
            label={t('settings.showUnset')}
            isSelected={search['unset'] !== undefined}
            onChange={(isOn) => setFilter({ unset: isOn ? 'shown' : undefined })}
          />
        </span>
      </div>
      <div className="settings-scope">
        <span>{t('settings.appliesIn')}</span>
        {environments.map(({ id, name, protected: isProtected }) => (
          <EnvironmentBadge key={id} name={name} isProtected={isProtected} />
        ))}
        <span className="muted settings-wide">{t('settings.sameEverywhere')}</span>
        <span className="settings-legend settings-wide">
          <span className="legend-item">
            <span className="legend-winner">
              <Icon name="check" size={12} />
            </span>
            {t('settings.legendWinner')}
          </span>
          <span className="legend-item">
            <s>{t('settings.legendValue')}</s> {t('settings.overridden')}
          </span>
          <span className="legend-item">– {t('app.notSet')}</span>
        </span>
      </div>
    </>
  )
}

/** The choice of a second tenant, which is shown among the page actions. */
export function CompareWith({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { search, setFilter } = list
  const { application, tenant, compare = null } = search
  if (application === undefined || tenant === undefined) return null
  return (
    <div className="settings-compare">
      <TenantPicker
        label={t('settings.compareWith')}
        id={compare}
        exceptId={tenant}
        onChange={(id) => setFilter({ compare: id })}
      />
      {compare !== null && (
        <IconButton
          icon="close"
          label={t('settings.endComparison')}
          onPress={() => setFilter({ compare: undefined })}
        />
      )}
    </div>
  )
}
