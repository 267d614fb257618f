// A read-only row with the key and the value of a setting. Values of secret keys are hidden; the settings page shows
// them.
import type { ReactNode } from 'react'
import { SectionRow } from '../kit/section.tsx'
import { useText } from '../texts/language.tsx'
import { type OwnSetting, isSecretKey } from './own-settings.ts'

export function SettingRow({ setting: { key, value } }: { setting: OwnSetting }): ReactNode {
  const t = useText()
  return (
    <SectionRow>
      <code className="truncate setting-key" title={key}>
        {key}
      </code>
      {isSecretKey(key) ? (
        <span className="muted">{t('app.hiddenSecret')}</span>
      ) : (
        <span className="truncate" title={value}>
          {value === '' ? <span className="muted">{t('tenants.emptyText')}</span> : value}
        </span>
      )}
    </SectionRow>
  )
}
