// The template, its preview, and the problems that the API finds.
import './template-editor.css'
import { type ReactNode, type RefObject, useMemo, useRef } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { LeaveGuard } from '../../app/leave-guard.tsx'
import { useMay } from '../../app/project.tsx'
import type { EditorHandle } from '../../code-editor/code-editor.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { CodeEditor } from './code-editor-on-demand.ts'
import { EnabledStatus, LogLevel } from './endpoint-columns.tsx'
import type { Endpoint } from './endpoint-types.ts'
import { PreviewPane } from './preview-pane.tsx'
import { ProblemList } from './problem-list.tsx'
import { TemplateConflict } from './template-conflict.tsx'
import { TemplateHead } from './template-head.tsx'
import { toLanguage } from './template-problems.ts'
import { TestCallButton } from './test-call-button.tsx'
import { usePreview } from './use-preview.ts'
import { useSample } from './use-sample.ts'
import { type TemplateDraft, useTemplateDraft } from './use-template-draft.ts'

export function TemplateEditor({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const t = useText()
  const canSave = useMay('esb.saveTemplate')
  const canPreview = useMay('esb.preview')
  const canTest = useMay('esb.test')
  const draft = useTemplateDraft(endpoint)
  const sample = useSample(endpoint)
  const input = { endpointId: endpoint.id, template: draft.text, body: sample.body }
  const preview = usePreview(input, canPreview)
  const editor = useRef<EditorHandle>(null)
  return (
    <Page
      title={endpoint.name}
      isEdgeToEdge
      note={
        <span className="template-badges">
          <EnabledStatus isEnabled={endpoint.enabled} />
          <LogLevel level={endpoint.logLevel} />
        </span>
      }
      actions={
        <>
          {canTest && (
            <TestCallButton endpoint={endpoint} body={sample.body} hasUnsavedTemplate={draft.isDirty} />
          )}
          {canSave && <SaveButton endpoint={endpoint} draft={draft} />}
        </>
      }
      filters={<TemplateHead endpoint={endpoint} />}
    >
      <div className="template">
        <SaveFailure draft={draft} />
        <div className="template-panes">
          <TemplatePane
            endpoint={endpoint}
            draft={draft}
            problems={preview.problems}
            isReadOnly={!canSave && !canPreview}
            editor={editor}
          />
          {canPreview && (
            <PreviewPane endpoint={endpoint} sample={sample} preview={preview} isEmpty={draft.text === ''} />
          )}
        </div>
        {canPreview && (
          <ProblemList
            problems={preview.problems}
            isChecked={draft.text !== '' && !preview.isStale && preview.failure === null}
            onJump={(position) => editor.current?.jumpTo(position)}
          />
        )}
      </div>
      <TemplateConflict endpoint={endpoint} draft={draft} />
      <LeaveGuard isDirty={draft.isDirty} title={t('esb.leaveTitle')} hint={t('esb.leaveHint')} />
    </Page>
  )
}

function SaveButton({ endpoint, draft }: { endpoint: Endpoint; draft: TemplateDraft }): ReactNode {
  const t = useText()
  return (
    <Button
      variant="primary"
      action="esb.saveTemplate"
      isPending={draft.submit.isPending}
      onPress={() => {
        if (draft.isDirty) draft.save(() => showToast(t('esb.templateSaved', endpoint.name)))
        else showToast(t('esb.nothingToSave'))
      }}
    >
      {t('esb.saveTemplate')}
    </Button>
  )
}

/** A conflict has its own dialog. The editor and the list of problems show what is wrong with the template itself. */
function SaveFailure({ draft }: { draft: TemplateDraft }): ReactNode {
  const { failure, reset } = draft.submit
  return failure === null || failure.kind === 'conflict' ? null : (
    <ChangeFailure failure={failure} onReload={reset} />
  )
}

type TemplatePaneProps = {
  endpoint: Endpoint
  draft: TemplateDraft
  problems: ReturnType<typeof usePreview>['problems']
  isReadOnly: boolean
  editor: RefObject<EditorHandle | null>
}

function TemplatePane({ endpoint, draft, problems, isReadOnly, editor }: TemplatePaneProps): ReactNode {
  const t = useText()
  const { inputMessageType, outputMessageType } = endpoint
  const marked = useMemo(
    () =>
      problems.flatMap(({ position, severity, message }) =>
        position === null ? [] : [{ ...position, severity, message }],
      ),
    [problems],
  )
  return (
    <section className="template-pane" aria-label={t('esb.template')}>
      <div className="template-pane-head">
        <h2 className="template-pane-title">{t('esb.template')}</h2>
        {draft.isDirty && <Badge tone="accent">{t('esb.unsaved')}</Badge>}
        <span className="template-pane-end">
          <span className="muted">
            {t('esb.messages', inputMessageType ?? t('esb.anyMessage'), outputMessageType ?? 'JSON')}
          </span>
          {draft.isDirty && (
            <IconButton icon="undo" size="small" label={t('esb.revert')} onPress={draft.revert} />
          )}
        </span>
      </div>
      <div className="template-pane-body">
        <CodeEditor
          label={t('esb.template')}
          value={draft.text}
          language={toLanguage(outputMessageType)}
          hasActions
          {...(isReadOnly ? {} : { onChange: draft.setText })}
          problems={marked}
          handle={editor}
        />
      </div>
      {!isReadOnly && <p className="template-pane-note">{t('codeEditor.leaveHint')}</p>}
    </section>
  )
}
