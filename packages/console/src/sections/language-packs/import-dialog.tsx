// Imports translations from a file. The dialog shows every change before it becomes an unsaved change of the grid.
import './import-dialog.css'
import { type ReactNode, useMemo, useState } from 'react'
import { FileTrigger } from 'react-aria-components'
import { describeFailure } from '../../api/failures.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Check, Select } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Change } from './edits.ts'
import {
  type ImportChange,
  type ImportPreview,
  type ImportTarget,
  type ReadFile,
  findTargets,
  previewImport,
  readImportFile,
} from './import-file.ts'
import type { Pack } from './pack-types.ts'
import { useContents } from './use-packs.ts'

type ImportDialogProps = {
  packs: readonly Pack[]
  onClose: () => void
  onImport: (changes: readonly Change[]) => void
}
type ChosenFile = { readonly name: string; readonly result: ReadFile | 'tooLarge' | 'unreadable' }

const maxBytes = 20_000_000
const maxShownChanges = 200
const maxShownLocales = 10

async function readFile(file: File, packs: readonly Pack[]): Promise<ChosenFile['result']> {
  if (file.size > maxBytes) return 'tooLarge'
  try {
    return readImportFile(await file.text(), packs)
  } catch {
    // The file can disappear after it was chosen.
    return 'unreadable'
  }
}

export function ImportDialog({ packs, onClose, onImport }: ImportDialogProps): ReactNode {
  const t = useText()
  const [chosen, setChosen] = useState<ChosenFile | null>(null)
  const [packId, setPackId] = useState<string | null>(null)
  const [removesOthers, setRemovesOthers] = useState(false)
  const found = usePreview(chosen, packs, packId, removesOthers)
  const read = async (file: File): Promise<void> => {
    setChosen({ name: file.name, result: await readFile(file, packs) })
  }
  const changes = found.preview?.changes ?? []
  return (
    <Dialog
      title={t('languagePacks.importTitle')}
      width={640}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <Button
            variant="primary"
            disabledReason={changes.length === 0 ? t('languagePacks.nothingToImport') : null}
            onPress={() => onImport(changes)}
          >
            {t('languagePacks.takeOver', changes.length)}
          </Button>
        </>
      }
    >
      <p className="secondary">{t('languagePacks.importHint')}</p>
      <FileChoice name={chosen?.name} onChoose={(file) => void read(file)} />
      {chosen !== null && <FileProblemNote result={chosen.result} />}
      {found.needsLocale && (
        <Select
          label={t('languagePacks.locale')}
          hint={t('languagePacks.importLocaleHint')}
          value={packId}
          placeholder={t('app.choose')}
          options={packs.map(({ id, name }) => ({ id, text: name }))}
          onChange={setPackId}
        />
      )}
      {found.targets.length > 0 && (
        <Check
          label={t('languagePacks.removesOthers')}
          isSelected={removesOthers}
          onChange={setRemovesOthers}
        />
      )}
      <Warnings unknown={found.unknown} skipped={found.skipped} />
      {found.isLoading && <Skeleton rows={4} />}
      {found.error !== null && <FailureNote failure={describeFailure(found.error)} />}
      {found.preview !== null && <Preview preview={found.preview} />}
    </Dialog>
  )
}

type FileChoiceProps = { name: string | undefined; onChoose: (file: File) => void }

function FileChoice({ name, onChoose }: FileChoiceProps): ReactNode {
  const t = useText()
  return (
    <div className="import-file">
      <FileTrigger
        acceptedFileTypes={['.csv', '.json', 'text/csv', 'application/json']}
        onSelect={(files) => {
          const file = files?.[0]
          if (file !== undefined) onChoose(file)
        }}
      >
        <Button icon="upload" hasAutoFocus>
          {t('languagePacks.chooseFile')}
        </Button>
      </FileTrigger>
      <span className="truncate" title={name}>
        {name ?? t('languagePacks.noFile')}
      </span>
    </div>
  )
}

const noTargets: readonly ImportTarget[] = []
const noNames: readonly string[] = []

/** Compares the file with the stored translations of the packs that it names, which the page may not show. */
function usePreview(
  chosen: ChosenFile | null,
  packs: readonly Pack[],
  packId: string | null,
  removesOthers: boolean,
) {
  const result = chosen?.result
  const file = typeof result === 'object' && 'file' in result ? result.file : null
  const { targets, unknown } = useMemo(
    () => (file === null ? { targets: noTargets, unknown: noNames } : findTargets(file, packs, packId)),
    [file, packs, packId],
  )
  const targetPacks = useMemo(() => targets.map(({ pack }) => pack), [targets])
  const { contents, error } = useContents(targetPacks)
  const isComplete = targets.every(({ pack }) => contents.has(pack.id))
  const preview = useMemo(
    () => (targets.length > 0 && isComplete ? previewImport(targets, contents, { removesOthers }) : null),
    [targets, isComplete, contents, removesOthers],
  )
  return {
    targets,
    unknown,
    isLoading: error === null && !isComplete,
    error,
    preview,
    skipped: file?.skipped ?? 0,
    needsLocale: file?.locales.has('') === true,
  }
}

function FileProblemNote({ result }: { result: ChosenFile['result'] }): ReactNode {
  const t = useText()
  if (typeof result === 'string') return <Note tone="danger">{t(`languagePacks.file.${result}`)}</Note>
  if ('file' in result) return null
  return <Note tone="danger">{t(`languagePacks.file.${result.problem}`)}</Note>
}

function Warnings({ unknown, skipped }: { unknown: readonly string[]; skipped: number }): ReactNode {
  const t = useText()
  const { list } = useFormat()
  return (
    <>
      {unknown.length > 0 && (
        <Note tone="warn">{t('languagePacks.unknownLocales', list(unknown.slice(0, maxShownLocales)))}</Note>
      )}
      {skipped > 0 && <Note tone="warn">{t('languagePacks.skipped', skipped)}</Note>}
    </>
  )
}

function Preview({ preview }: { preview: ImportPreview }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { changes, added, changed, removed, unchanged, invalid } = preview
  return (
    <section className="import-preview" aria-label={t('languagePacks.preview')}>
      <p className="import-summary" role="status">
        {t('languagePacks.summary', number(added), number(changed), number(removed), number(unchanged))}
      </p>
      {invalid.length > 0 && (
        <Note tone="warn">
          <p>{t('languagePacks.invalidKeys', invalid.length)}</p>
          {invalid.slice(0, 3).map(({ key, problem }) => (
            <p key={key} className="import-invalid">
              <code className="truncate">{key}</code> {t(problem)}
            </p>
          ))}
        </Note>
      )}
      {changes.length > 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard scrolls the list
        <ul className="import-changes" tabIndex={0} aria-label={t('languagePacks.preview')}>
          {changes.slice(0, maxShownChanges).map((change) => (
            <ChangeRow key={`${change.packId}/${change.key}`} change={change} />
          ))}
        </ul>
      )}
      {changes.length > maxShownChanges && (
        <p className="muted">{t('app.more', number(changes.length - maxShownChanges))}</p>
      )}
    </section>
  )
}

function ChangeRow({ change: { key, locale, saved, value } }: { change: ImportChange }): ReactNode {
  const t = useText()
  return (
    <li className="import-change">
      <code className="truncate" title={key}>
        {key}
      </code>
      <span className="muted">{locale}</span>
      <div className="import-values">
        {saved !== null && <del className="truncate">{saved}</del>}
        {value === null ? (
          <span className="muted">{t('languagePacks.willBeRemoved')}</span>
        ) : (
          <ins className="truncate" dir="auto">
            {value === '' ? t('app.emptyText') : value}
          </ins>
        )}
      </div>
    </li>
  )
}
