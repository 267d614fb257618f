// Saves the stored translations of the shown locales as a file.
import { MenuItem } from 'react-aria-components'
import type { ReactNode } from 'react'
import { saveCsv, saveText } from '../../app/csv.ts'
import { useProject } from '../../app/project.tsx'
import { Icon } from '../../kit/icon.tsx'
import { MenuPopup } from '../../kit/menu-popup.tsx'
import { PopupButton, usePopup } from '../../kit/popup-button.tsx'
import { useText } from '../../texts/language.tsx'
import { toCsvRows, toJson } from './export-file.ts'
import type { Contents, Pack } from './pack-types.ts'

type ExportMenuProps = { packs: readonly Pack[]; contents: Contents }

export function ExportMenu({ packs, contents }: ExportMenuProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const popup = usePopup()
  const save = (format: string): void => {
    const name = `${slug}-language-packs`
    if (format === 'csv') saveCsv(`${name}.csv`, toCsvRows(packs, contents))
    else saveText(`${name}.json`, toJson(packs, contents), 'application/json')
  }
  if (!packs.every(({ id }) => contents.has(id))) return null
  return (
    <>
      <PopupButton popup={popup} kind="menu" className="button" onApproach={() => {}}>
        <Icon name="download" />
        <span className="wide-text">{t('languagePacks.export')}</span>
        <Icon name="chevronDown" size={12} />
      </PopupButton>
      {popup.isOpen && (
        <MenuPopup popup={popup} label={t('languagePacks.export')} placement="bottom end" onAction={save}>
          <MenuItem id="csv" className="menu-item" textValue={t('languagePacks.exportCsv')}>
            {t('languagePacks.exportCsv')}
          </MenuItem>
          <MenuItem id="json" className="menu-item" textValue={t('languagePacks.exportJson')}>
            {t('languagePacks.exportJson')}
          </MenuItem>
        </MenuPopup>
      )}
    </>
  )
}
