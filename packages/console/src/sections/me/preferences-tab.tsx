// The settings that this browser remembers.
import type { ReactNode } from 'react'
import { useTheme } from '../../app/use-theme.ts'
import { themes } from '../../kit/theme.ts'
import { Section } from '../../kit/section.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { type Language, languages, useLanguage, useText } from '../../texts/language.tsx'

export function PreferencesTab(): ReactNode {
  const t = useText()
  const [theme, setTheme] = useTheme()
  const { language, switchTo } = useLanguage()
  return (
    <div className="me-preferences">
      <h2 className="visually-hidden">{t('me.tab.preferences')}</h2>
      <Section title={t('app.theme')}>
        <p className="me-hint">{t('me.themeHint')}</p>
        <Segments
          label={t('app.theme')}
          items={themes.map((id) => ({ id, text: t(`app.theme.${id}`) }))}
          selected={theme}
          onSelect={(id) => setTheme(themes.find((known) => known === id) ?? 'system')}
        />
      </Section>
      <Section title={t('app.language')}>
        <p className="me-hint">{t('me.languageHint')}</p>
        <Segments
          label={t('app.language')}
          items={Object.entries(languages).map(([id, text]) => ({ id, text }))}
          selected={language}
          onSelect={(id) => switchTo(id as Language)}
        />
      </Section>
      <p className="me-hint">{t('me.preferencesHint')}</p>
    </div>
  )
}
