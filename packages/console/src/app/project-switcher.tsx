// The name of the project in the top bar. It opens a search for another project.
import type { ReactNode } from 'react'
import { Icon } from '../kit/icon.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { PopupButton, usePopup } from '../kit/popup-button.tsx'
import { useText } from '../texts/language.tsx'

const SwitcherPopup = loadOnDemand(async () => (await import('./switcher-popup.tsx')).SwitcherPopup)

type SwitcherProps = {
  /** The name of the project or, outside of projects, of the page. */
  name: string
  slug: string | null
  /** The current section, shown on narrow screens. */
  section: string | null
  onCreate: (() => void) | null
}

export function ProjectSwitcher({ name, slug, section, onCreate }: SwitcherProps): ReactNode {
  const t = useText()
  const popup = usePopup()
  return (
    <>
      <PopupButton popup={popup} kind="dialog" className="project-button" onApproach={SwitcherPopup.preload}>
        <span className="project-button-names">
          <span className="project-button-name truncate">{name}</span>
          {section !== null && <span className="narrow-only project-button-section truncate">{section}</span>}
        </span>
        <span className="visually-hidden">{t('app.switchProject')}</span>
        <Icon name="chevronDown" />
      </PopupButton>
      {popup.isOpen && <SwitcherPopup popup={popup} slug={slug} onCreate={onCreate} />}
    </>
  )
}
