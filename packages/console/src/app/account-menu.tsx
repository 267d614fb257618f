// The buttons in the top bar for the theme and for the caller's account.
import type { ReactNode } from 'react'
import type { ShellMeResult } from '../generated/documents.ts'
import { Icon } from '../kit/icon.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { PopupButton, usePopup } from '../kit/popup-button.tsx'
import { Avatar } from '../kit/values.tsx'
import { useText } from '../texts/language.tsx'
import { themeIcons } from './theme-icons.ts'
import { useTheme } from './use-theme.ts'

const ThemePopup = loadOnDemand(async () => (await import('./account-popups.tsx')).ThemePopup)
const AccountPopup = loadOnDemand(async () => (await import('./account-popups.tsx')).AccountPopup)

export function ThemeMenu(): ReactNode {
  const t = useText()
  const [theme] = useTheme()
  const popup = usePopup()
  return (
    <span className="wide-only">
      <PopupButton
        popup={popup}
        kind="menu"
        className="button"
        isSquare
        label={t('app.theme')}
        onApproach={ThemePopup.preload}
      >
        <Icon name={themeIcons[theme]} />
      </PopupButton>
      {popup.isOpen && <ThemePopup popup={popup} />}
    </span>
  )
}

export function AccountMenu({ me }: { me: ShellMeResult['me'] | null }): ReactNode {
  const t = useText()
  const popup = usePopup()
  const name = me?.externalName === '' ? me.externalUsername : (me?.externalName ?? '')
  return (
    <>
      <PopupButton
        popup={popup}
        kind="menu"
        className="account-button"
        label={t('app.account', name)}
        onApproach={AccountPopup.preload}
      >
        <Avatar name={name} />
      </PopupButton>
      {popup.isOpen && <AccountPopup popup={popup} me={me} name={name} />}
    </>
  )
}
