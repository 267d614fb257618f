// The buttons of the page.
import type { ReactNode } from 'react'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { useText } from '../../texts/language.tsx'
import { ExportMenu } from './export-menu.tsx'
import type { OpenDialog } from './pack-dialogs.tsx'
import type { Contents, Pack } from './pack-types.ts'

type PackActionsProps = {
  packs: readonly Pack[] | undefined
  shown: readonly Pack[]
  contents: Contents
  onOpen: (dialog: OpenDialog) => void
}

export function PackActions({ packs, shown, contents, onOpen }: PackActionsProps): ReactNode {
  const t = useText()
  const canCreate = useMay('languagePacks.create')
  const canChange = useMay('languagePacks.change')
  const hasPacks = packs !== undefined && packs.length > 0
  return (
    <>
      {hasPacks && <ExportMenu packs={shown} contents={contents} />}
      {hasPacks && canChange && (
        <>
          <Button icon="upload" action="languagePacks.change" onPress={() => onOpen('import')}>
            <span className="wide-text">{t('languagePacks.import')}</span>
          </Button>
          <Button icon="add" action="languagePacks.change" onPress={() => onOpen('key')}>
            <span className="wide-text">{t('languagePacks.newKey')}</span>
          </Button>
        </>
      )}
      {canCreate && (
        <Button variant="primary" icon="add" action="languagePacks.create" onPress={() => onOpen('pack')}>
          {t('languagePacks.new')}
        </Button>
      )}
    </>
  )
}
