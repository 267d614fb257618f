// Another person has changed the endpoint while this person edited its template.
import type { ReactNode } from 'react'
import { ConflictDialog } from '../../app/conflict-dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Endpoint } from './endpoint-types.ts'
import type { TemplateDraft } from './use-template-draft.ts'

export function TemplateConflict({
  endpoint,
  draft,
}: {
  endpoint: Endpoint
  draft: TemplateDraft
}): ReactNode {
  const t = useText()
  const { base, text, submit } = draft
  // The dialog needs the version of the other person, which is read after the conflict.
  if (submit.failure?.kind !== 'conflict' || endpoint.revision === base.revision) return null
  return (
    <ConflictDialog
      key={endpoint.revision}
      title={t('esb.conflictTitle', endpoint.name)}
      changedBy={submit.failure.changedBy}
      fields={[
        {
          id: 'template',
          label: t('esb.template'),
          base: base.template,
          theirs: endpoint.transformationTemplate,
          yours: text,
        },
      ]}
      isPending={submit.isPending}
      failure={null}
      onSave={(sides) => {
        if (sides.get('template') === 'yours')
          draft.save(() => showToast(t('esb.templateSaved', endpoint.name)), endpoint.revision)
        else draft.adopt()
      }}
      onBack={submit.reset}
      onDiscard={draft.adopt}
    />
  )
}
