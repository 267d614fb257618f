// The theme menu and the account menu.
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Header, MenuItem, MenuSection, Separator } from 'react-aria-components'
import type { ShellMeResult } from '../generated/documents.ts'
import { Icon } from '../kit/icon.tsx'
import { MenuPopup } from '../kit/menu-popup.tsx'
import type { Popup } from '../kit/popup-button.tsx'
import { type Theme, themes } from '../kit/theme.ts'
import { type Language, languages, useLanguage, useText } from '../texts/language.tsx'
import { themeIcons } from './theme-icons.ts'
import { useTheme } from './use-theme.ts'

export function ThemePopup({ popup }: { popup: Popup }): ReactNode {
  const t = useText()
  const [theme, setTheme] = useTheme()
  return (
    <MenuPopup
      popup={popup}
      label={t('app.theme')}
      placement="bottom end"
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[theme]}
      onAction={(id) => setTheme(id as Theme)}
    >
      {themes.map((id) => (
        <MenuItem key={id} id={id} className="menu-item menu-row" textValue={t(`app.theme.${id}`)}>
          <Icon name={themeIcons[id]} />
          {t(`app.theme.${id}`)}
        </MenuItem>
      ))}
    </MenuPopup>
  )
}

const languageNames = Object.keys(languages) as readonly Language[]
/** The reference proxy ends the session at this address. */
const signOutPath = '/-/logout'

type AccountPopupProps = { popup: Popup; me: ShellMeResult['me'] | null; name: string }

export function AccountPopup({ popup, me, name }: AccountPopupProps): ReactNode {
  const t = useText()
  const navigate = useNavigate()
  const { language, switchTo } = useLanguage()
  return (
    <MenuPopup
      popup={popup}
      label={t('app.account', name)}
      placement="bottom end"
      className="popover account"
      head={
        <div className="account-head">
          <div className="account-name truncate">{name}</div>
          <div className="muted truncate">{me?.externalEmail}</div>
          {me?.role === 'administrator' && <div className="muted">{t('app.administrator')}</div>}
        </div>
      }
      onAction={(id) => {
        if (id === 'me') void navigate({ to: '/me' })
      }}
    >
      <MenuItem id="me" className="menu-item menu-row">
        <Icon name="user" />
        {t('section.me')}
      </MenuItem>
      <Separator className="menu-separator" />
      <MenuSection
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[language]}
        onSelectionChange={(keys) => {
          const [next] = keys === 'all' ? [] : [...keys]
          if (next !== undefined) switchTo(next as Language)
        }}
      >
        <Header className="menu-header">{t('app.language')}</Header>
        {languageNames.map((id) => (
          <MenuItem key={id} id={id} className="menu-item menu-row" textValue={languages[id]}>
            <Icon name="language" />
            {languages[id]}
          </MenuItem>
        ))}
      </MenuSection>
      <Separator className="menu-separator" />
      <MenuItem id="sign-out" href={signOutPath} className="menu-item menu-row">
        <Icon name="signOut" />
        {t('app.signOut')}
      </MenuItem>
    </MenuPopup>
  )
}
