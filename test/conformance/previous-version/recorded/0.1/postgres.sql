CREATE SCHEMA recorded_schema;
CREATE TABLE recorded_schema.attempt (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    kind text NOT NULL,
    outcome text NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    worker_id text NOT NULL,
    failure_category text,
    failure_message text,
    record text NOT NULL,
    CONSTRAINT attempt_number_check CHECK ((number > 0))
);
CREATE TABLE recorded_schema.blob (
    partition integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.edge (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    flow_id text NOT NULL COLLATE pg_catalog."C",
    upstream_id text NOT NULL COLLATE pg_catalog."C",
    downstream_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    input_name text,
    created_at bigint NOT NULL,
    resolved_at bigint,
    record text NOT NULL,
    CONSTRAINT edge_joins_two CHECK ((upstream_id <> downstream_id)),
    CONSTRAINT edge_state_is_known CHECK ((state = ANY (ARRAY['open'::text, 'satisfied'::text, 'impossible'::text]))),
    CONSTRAINT edge_state_is_whole CHECK (((state = 'open'::text) = (resolved_at IS NULL)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.entry (
    partition integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    score bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.event_batch (
    partition integer NOT NULL,
    first_sequence bigint NOT NULL,
    last_sequence bigint NOT NULL,
    at bigint NOT NULL,
    records text NOT NULL,
    CONSTRAINT event_batch_check CHECK ((first_sequence <= last_sequence)),
    CONSTRAINT event_batch_first_sequence_check CHECK ((first_sequence > 0))
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE VIEW recorded_schema.event AS
 SELECT b.partition,
    ((b.first_sequence + e.place) - 1) AS sequence,
    b.at,
    ('{execution_created,execution_replaced,attempt_started,attempt_failed,lease_expired,lease_revoked,execution_released,execution_delayed,execution_promoted,cancel_requested,execution_ended,execution_replayed,execution_purged,progress_updated,priority_changed,tags_set,execution_blocked,execution_unblocked,flow_created,flow_sealed,flow_ended,flow_cancelled,flow_reopened,flow_purged,step_recorded_schema,execution_suspended,execution_resumed,wait_reminded,wait_escalated,waitpoint_opened,waitpoint_closed,signal_received}'::text[])[(((e.cells ->> 0))::integer + 1)] AS type,
    (e.cells ->> 2) AS execution_id,
    (e.cells ->> 3) AS namespace,
    (e.cells ->> 4) AS task,
    (e.cells ->> 5) AS lane,
    (NULLIF((e.cells ->> 7), 'false'::text))::integer AS attempt_number,
    ('{completed,failed,cancelled,expired,skipped}'::text[])[((NULLIF((e.cells ->> 11), 'false'::text))::integer + 1)] AS outcome,
        CASE json_typeof((e.cells -> 9))
            WHEN 'string'::text THEN (e.cells ->> 9)
            ELSE NULL::text
        END AS worker_id,
        CASE json_typeof((e.cells -> 13))
            WHEN 'string'::text THEN (e.cells ->> 13)
            ELSE NULL::text
        END AS reason,
        CASE json_typeof((e.cells -> 18))
            WHEN 'string'::text THEN (e.cells ->> 18)
            ELSE NULL::text
        END AS flow_id,
        CASE json_typeof((e.cells -> 19))
            WHEN 'string'::text THEN (e.cells ->> 19)
            ELSE NULL::text
        END AS step,
        CASE json_typeof((e.cells -> 20))
            WHEN 'string'::text THEN (e.cells ->> 20)
            ELSE NULL::text
        END AS waitpoint,
        CASE json_typeof((e.cells -> 21))
            WHEN 'string'::text THEN (e.cells ->> 21)
            ELSE NULL::text
        END AS signal,
        CASE json_typeof((e.cells -> 22))
            WHEN 'string'::text THEN (e.cells ->> 22)
            ELSE NULL::text
        END AS effect
   FROM (recorded_schema.event_batch b
     CROSS JOIN LATERAL json_array_elements((regexp_replace(b.records, '\\u(0000|d[89a-f]..)'::text, '\\ufffd'::text, 'g'::text))::json) WITH ORDINALITY e(cells, place));
CREATE TABLE recorded_schema.execution (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    key text,
    namespace text NOT NULL,
    task text NOT NULL,
    lane text NOT NULL,
    class text NOT NULL,
    state text NOT NULL,
    priority integer NOT NULL,
    attempt_number integer,
    failure_count integer NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    started_at bigint,
    due_at bigint,
    ended_at bigint,
    worker_id text,
    failure_message text,
    record text NOT NULL,
    flow_id text COLLATE pg_catalog."C",
    CONSTRAINT execution_attempt_has_worker CHECK (((attempt_number IS NULL) = (worker_id IS NULL))),
    CONSTRAINT execution_ended_is_due_for_a_flow CHECK (((ended_at IS NULL) OR (due_at IS NULL) OR (flow_id IS NOT NULL))),
    CONSTRAINT execution_failure_count_check CHECK ((failure_count >= 0)),
    CONSTRAINT execution_priority_check CHECK ((priority >= 0)),
    CONSTRAINT execution_state_is_whole CHECK (
CASE state
    WHEN 'waiting'::text THEN (ended_at IS NULL)
    WHEN 'active'::text THEN ((ended_at IS NULL) AND (due_at IS NOT NULL) AND (worker_id IS NOT NULL))
    WHEN 'completed'::text THEN ((ended_at IS NOT NULL) AND (worker_id IS NOT NULL))
    WHEN 'delayed'::text THEN ((ended_at IS NULL) AND (due_at IS NOT NULL))
    WHEN 'rate_limited'::text THEN (ended_at IS NULL)
    WHEN 'waiting_children'::text THEN (ended_at IS NULL)
    WHEN 'suspended'::text THEN (ended_at IS NULL)
    WHEN 'failed'::text THEN (ended_at IS NOT NULL)
    WHEN 'cancelled'::text THEN (ended_at IS NOT NULL)
    WHEN 'expired'::text THEN (ended_at IS NOT NULL)
    WHEN 'skipped'::text THEN (ended_at IS NOT NULL)
    ELSE false
END)
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.flow (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    key text,
    namespace text NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    phase text NOT NULL,
    member_count integer NOT NULL,
    edge_count integer NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    due_at bigint,
    ended_at bigint,
    record text NOT NULL,
    CONSTRAINT flow_edge_count_check CHECK ((edge_count >= 0)),
    CONSTRAINT flow_member_count_check CHECK ((member_count >= 0)),
    CONSTRAINT flow_state_is_known CHECK ((state = ANY (ARRAY['open'::text, 'running'::text, 'blocked'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT flow_state_is_whole CHECK (
CASE phase
    WHEN 'held'::text THEN ((ended_at IS NULL) AND (state <> 'cancelled'::text))
    WHEN 'open'::text THEN ((ended_at IS NULL) AND (state <> 'cancelled'::text))
    WHEN 'sealed'::text THEN ((ended_at IS NULL) AND (state <> 'cancelled'::text))
    WHEN 'ended'::text THEN ((ended_at IS NOT NULL) AND (state = ANY (ARRAY['completed'::text, 'failed'::text])))
    WHEN 'cancelled'::text THEN ((ended_at IS NOT NULL) AND (state = 'cancelled'::text))
    ELSE false
END)
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.inbox (
    id bigint NOT NULL,
    partition integer NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL,
    payload bytea,
    staged_at timestamp with time zone DEFAULT now() NOT NULL,
    failure text
)
WITH (autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE recorded_schema.inbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME recorded_schema.inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE recorded_schema.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE TABLE recorded_schema.partition (
    number integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    last_sequence bigint DEFAULT 0 NOT NULL,
    CONSTRAINT partition_last_sequence_check CHECK ((last_sequence >= 0))
)
WITH (fillfactor='10', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.process (
    id text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    level_min integer NOT NULL,
    level_max integer NOT NULL,
    announced_at bigint NOT NULL
);
CREATE TABLE recorded_schema.queue (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    lane text NOT NULL,
    class text NOT NULL,
    created_at bigint NOT NULL,
    record text NOT NULL
);
CREATE TABLE recorded_schema.signal (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL,
    sequence integer NOT NULL,
    name text NOT NULL,
    source_type text NOT NULL,
    source_identity text NOT NULL,
    effect text NOT NULL,
    accepted_at bigint NOT NULL,
    record text NOT NULL,
    CONSTRAINT signal_effect_is_known CHECK ((effect = ANY (ARRAY['resumed'::text, 'counted'::text, 'counted_before'::text, 'not_awaited'::text, 'buffered'::text]))),
    CONSTRAINT signal_sequence_check CHECK ((sequence > 0)),
    CONSTRAINT signal_source_is_known CHECK ((source_type = ANY (ARRAY['token'::text, 'caller'::text, 'operator'::text, 'engine'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.step (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL,
    phase text NOT NULL,
    attempt_count integer NOT NULL,
    created_at bigint NOT NULL,
    ended_at bigint,
    record text NOT NULL,
    CONSTRAINT step_attempt_count_check CHECK ((attempt_count >= 0)),
    CONSTRAINT step_kind_is_known CHECK ((kind = ANY (ARRAY['call'::text, 'now'::text, 'waitpoint'::text, 'sleep'::text, 'wait'::text]))),
    CONSTRAINT step_phase_is_known CHECK ((phase = ANY (ARRAY['completed'::text, 'failed'::text, 'retrying'::text, 'open'::text, 'closed'::text]))),
    CONSTRAINT step_phase_is_of_its_kind CHECK (((phase = ANY (ARRAY['open'::text, 'closed'::text])) = (kind = ANY (ARRAY['sleep'::text, 'wait'::text])))),
    CONSTRAINT step_phase_is_whole CHECK (((phase = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT step_position_check CHECK (("position" >= 0))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE recorded_schema.waitpoint (
    id text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    execution_id text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL,
    signal_count integer NOT NULL,
    created_at bigint NOT NULL,
    closed_at bigint,
    close_reason text,
    record text NOT NULL,
    CONSTRAINT waitpoint_is_whole CHECK (((closed_at IS NULL) = (close_reason IS NULL))),
    CONSTRAINT waitpoint_signal_count_check CHECK ((signal_count >= 0))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
INSERT INTO recorded_schema.attempt VALUES ('0-00000000-0000-7000-8000-0000000000001', 0, '0-00000000-0000-7000-8000-000000000000', 1, 'initial', 'lease_expired', 1700000040000, 1700000075001, 'worker', 'lease_expired', 'the worker did not renew its lease', '["0-00000000-0000-7000-8000-000000000000\u001f1","0-00000000-0000-7000-8000-000000000000",1,0,1700000040000,1700000075001,1,"worker","worker-0",5,["lease_expired","the worker did not renew its lease",false,1700000075001]]');
INSERT INTO recorded_schema.attempt VALUES ('1-00000000-0000-7000-8000-0000000000121', 1, '1-00000000-0000-7000-8000-000000000012', 1, 'initial', 'lease_expired', 1700000149000, 1700000151000, 'worker', 'lease_expired', 'the worker did not renew its lease', '["1-00000000-0000-7000-8000-000000000012\u001f1","1-00000000-0000-7000-8000-000000000012",1,0,1700000149000,1700000151000,1,"worker","worker-0",5,["lease_expired","the worker did not renew its lease",false,1700000151000]]');
INSERT INTO recorded_schema.attempt VALUES ('1-00000000-0000-7000-8000-0000000000122', 1, '1-00000000-0000-7000-8000-000000000012', 2, 'reclaim', 'failed', 1700000151000, 1700000151000, 'worker', 'odd', '', '["1-00000000-0000-7000-8000-000000000012\u001f2","1-00000000-0000-7000-8000-000000000012",2,2,1700000151000,1700000151000,2,"worker","worker-0",1,["odd","","進捗 50 %",1700000151000]]');
INSERT INTO recorded_schema.attempt VALUES ('1-00000000-0000-7000-8000-0000000000081', 1, '1-00000000-0000-7000-8000-000000000008', 1, 'initial', 'completed', 1700000148999, 1700000148999, 'worker', NULL, NULL, '["1-00000000-0000-7000-8000-000000000008\u001f1","1-00000000-0000-7000-8000-000000000008",1,0,1700000148999,1700000148999,1,"worker","worker-0",0,false]');
INSERT INTO recorded_schema.attempt VALUES ('1-00000000-0000-7000-8000-0000000000131', 1, '1-00000000-0000-7000-8000-000000000013', 1, 'initial', 'expired', 1700000149000, 1700000181001, 'worker', 'deadline', 'the execution did not end before its deadline', '["1-00000000-0000-7000-8000-000000000013\u001f1","1-00000000-0000-7000-8000-000000000013",1,0,1700000149000,1700000181001,1,"worker","worker-0",4,["deadline","the execution did not end before its deadline",false,1700000181001]]');
INSERT INTO recorded_schema.attempt VALUES ('2-00000000-0000-7000-8000-0000000000011', 2, '2-00000000-0000-7000-8000-000000000001', 1, 'initial', 'failed', 1700000189001, 1700000189001, 'worker', 'odd', 'line one
line two', '["2-00000000-0000-7000-8000-000000000001\u001f1","2-00000000-0000-7000-8000-000000000001",1,0,1700000189001,1700000189001,1,"worker","worker-0",1,["odd","line one\nline two","line one\nline two",1700000189001]]');
INSERT INTO recorded_schema.attempt VALUES ('2-00000000-0000-7000-8000-0000000000001', 2, '2-00000000-0000-7000-8000-000000000000', 1, 'initial', 'lease_revoked', 1700000189001, 1700000192000, 'worker', 'lease_revoked', 'stuck', '["2-00000000-0000-7000-8000-000000000000\u001f1","2-00000000-0000-7000-8000-000000000000",1,0,1700000189001,1700000192000,1,"worker","worker-0",6,["lease_revoked","stuck",false,1700000192000]]');
INSERT INTO recorded_schema.attempt VALUES ('2-00000000-0000-7000-8000-0000000000002', 2, '2-00000000-0000-7000-8000-000000000000', 2, 'reclaim', 'failed', 1700000222000, 1700000222000, 'worker', 'transient', '進捗 50 %', '["2-00000000-0000-7000-8000-000000000000\u001f2","2-00000000-0000-7000-8000-000000000000",2,2,1700000222000,1700000222000,2,"worker","worker-1",1,["transient","進捗 50 %","👩‍🚀 \"☃\" \\ \u0000 \u001f ",1700000222000]]');
INSERT INTO recorded_schema.attempt VALUES ('2-00000000-0000-7000-8000-0000000000003', 2, '2-00000000-0000-7000-8000-000000000000', 3, 'retry', 'lease_expired', 1700000222000, 1700000254000, 'worker', 'lease_expired', 'the worker did not renew its lease', '["2-00000000-0000-7000-8000-000000000000\u001f3","2-00000000-0000-7000-8000-000000000000",3,1,1700000222000,1700000254000,4,"worker","worker-0",5,["lease_expired","the worker did not renew its lease",false,1700000254000]]');
INSERT INTO recorded_schema.attempt VALUES ('2-00000000-0000-7000-8000-0000000000004', 2, '2-00000000-0000-7000-8000-000000000000', 4, 'reclaim', 'lease_expired', 1700000254000, 1700000293000, 'worker', 'lease_expired', 'the worker did not renew its lease', '["2-00000000-0000-7000-8000-000000000000\u001f4","2-00000000-0000-7000-8000-000000000000",4,2,1700000254000,1700000293000,5,"worker","worker-0",5,["lease_expired","the worker did not renew its lease",false,1700000293000]]');
INSERT INTO recorded_schema.blob VALUES (0, 'p0-00000000-0000-7000-8000-000000000001', '\xb7661c');
INSERT INTO recorded_schema.blob VALUES (0, 'p0-00000000-0000-7000-8000-000000000000', '\xf8');
INSERT INTO recorded_schema.blob VALUES (0, 'p0-00000000-0000-7000-8000-000000000002', '\xc4e8');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000000', '\x15');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000006', '\x2ed368');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000007', '\x');
INSERT INTO recorded_schema.blob VALUES (1, 'r1-00000000-0000-7000-8000-000000000006', '\x30403f29');
INSERT INTO recorded_schema.blob VALUES (1, 'r1-00000000-0000-7000-8000-000000000007', '\xdafc57fd');
INSERT INTO recorded_schema.blob VALUES (1, 'r1-00000000-0000-7000-8000-000000000008', '\x574af9c8');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000012', '\x');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000013', '\xd061883e');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000016', '\xbcdf');
INSERT INTO recorded_schema.blob VALUES (1, 'p1-00000000-0000-7000-8000-000000000022', '\x7b14');
INSERT INTO recorded_schema.blob VALUES (1, 'r1-00000000-0000-7000-8000-000000000015', '\xa12838');
INSERT INTO recorded_schema.blob VALUES (1, 'g1-00000000-0000-7000-8000-000000000012@größer1k0', '\x');
INSERT INTO recorded_schema.blob VALUES (2, 'p2-00000000-0000-7000-8000-000000000000', '\x1fd6');
INSERT INTO recorded_schema.blob VALUES (2, 'p2-00000000-0000-7000-8000-000000000001', '\x74');
INSERT INTO recorded_schema.blob VALUES (2, 'g2-00000000-0000-7000-8000-000000000000@größer1k2', '\x0202');
INSERT INTO recorded_schema.blob VALUES (2, 'g2-00000000-0000-7000-8000-000000000001@größer1k0', '\x01');
INSERT INTO recorded_schema.blob VALUES (2, 's2-00000000-0000-7000-8000-000000000000callstep 0', '\x0202');
INSERT INTO recorded_schema.blob VALUES (2, 's2-00000000-0000-7000-8000-000000000000nowstep 0', '\x030303');
INSERT INTO recorded_schema.blob VALUES (2, 'g2-00000000-0000-7000-8000-000000000000@go1k2', '\x0202');
INSERT INTO recorded_schema.blob VALUES (2, 's2-00000000-0000-7000-8000-000000000000callstep 2', '\x0202');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000061-00000000-0000-7000-8000-000000000007', 1, 'f1-00000000-0000-7000-8000-000000000001', '1-00000000-0000-7000-8000-000000000006', '1-00000000-0000-7000-8000-000000000007', 'satisfied', 'from 0', 1700000080001, 1700000111000, '["1-00000000-0000-7000-8000-000000000006\u001f1-00000000-0000-7000-8000-000000000007","f1-00000000-0000-7000-8000-000000000001","1-00000000-0000-7000-8000-000000000006","1-00000000-0000-7000-8000-000000000007",[0,"from 0"],1,[4,1],1700000080001,1700000111000]');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000061-00000000-0000-7000-8000-000000000008', 1, 'f1-00000000-0000-7000-8000-000000000001', '1-00000000-0000-7000-8000-000000000006', '1-00000000-0000-7000-8000-000000000008', 'satisfied', 'from 0', 1700000080001, 1700000111000, '["1-00000000-0000-7000-8000-000000000006\u001f1-00000000-0000-7000-8000-000000000008","f1-00000000-0000-7000-8000-000000000001","1-00000000-0000-7000-8000-000000000006","1-00000000-0000-7000-8000-000000000008",[0,"from 0"],1,[4,1],1700000080001,1700000111000]');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000071-00000000-0000-7000-8000-000000000008', 1, 'f1-00000000-0000-7000-8000-000000000001', '1-00000000-0000-7000-8000-000000000007', '1-00000000-0000-7000-8000-000000000008', 'satisfied', 'from 1', 1700000080001, 1700000112999, '["1-00000000-0000-7000-8000-000000000007\u001f1-00000000-0000-7000-8000-000000000008","f1-00000000-0000-7000-8000-000000000001","1-00000000-0000-7000-8000-000000000007","1-00000000-0000-7000-8000-000000000008",[0,"from 1"],1,[4,1],1700000080001,1700000112999]');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000121-00000000-0000-7000-8000-000000000016', 1, 'f1-00000000-0000-7000-8000-000000000002', '1-00000000-0000-7000-8000-000000000012', '1-00000000-0000-7000-8000-000000000016', 'impossible', 'from 0', 1700000149000, 1700000151000, '["1-00000000-0000-7000-8000-000000000012\u001f1-00000000-0000-7000-8000-000000000016","f1-00000000-0000-7000-8000-000000000002","1-00000000-0000-7000-8000-000000000012","1-00000000-0000-7000-8000-000000000016",[0,"from 0"],2,false,1700000149000,1700000151000]');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000221-00000000-0000-7000-8000-000000000015', 1, 'f1-00000000-0000-7000-8000-000000000002', '1-00000000-0000-7000-8000-000000000022', '1-00000000-0000-7000-8000-000000000015', 'open', NULL, 1700000149999, NULL, '["1-00000000-0000-7000-8000-000000000022\u001f1-00000000-0000-7000-8000-000000000015","f1-00000000-0000-7000-8000-000000000002","1-00000000-0000-7000-8000-000000000022","1-00000000-0000-7000-8000-000000000015",[1],0,false,1700000149999,false]');
INSERT INTO recorded_schema.edge VALUES ('1-00000000-0000-7000-8000-0000000000131-00000000-0000-7000-8000-000000000014', 1, 'f1-00000000-0000-7000-8000-000000000002', '1-00000000-0000-7000-8000-000000000013', '1-00000000-0000-7000-8000-000000000014', 'impossible', NULL, 1700000149000, 1700000181001, '["1-00000000-0000-7000-8000-000000000013\u001f1-00000000-0000-7000-8000-000000000014","f1-00000000-0000-7000-8000-000000000002","1-00000000-0000-7000-8000-000000000013","1-00000000-0000-7000-8000-000000000014",false,2,false,1700000149000,1700000181001]');
INSERT INTO recorded_schema.entry VALUES (0, 'queues', 0, 'aone');
INSERT INTO recorded_schema.entry VALUES (0, 'created', 1700000000000, '0-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (0, 'created', 1700000000000, '0-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (0, 'queues', 0, 'btwo');
INSERT INTO recorded_schema.entry VALUES (0, 'tagteamgrün', 1700000000000, '0-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (0, 'attempts0-00000000-0000-7000-8000-000000000000', 1, '0-00000000-0000-7000-8000-0000000000001');
INSERT INTO recorded_schema.entry VALUES (0, 'readybtwo', 1700000000000, '0-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (0, 'laneaexpired', 1700000000000, '0-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (0, 'purge', 1700000135001, '0-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (0, 'created', 1700000079001, '0-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.entry VALUES (0, 'lanebdelayed', 1700000079001, '0-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.entry VALUES (0, 'due', 1700000084001, '0-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.entry VALUES (0, 'tagteam', 1700000079001, '0-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.entry VALUES (1, 'queues', 0, 'aone');
INSERT INTO recorded_schema.entry VALUES (1, 'queues', 0, 'bone');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000080001, '1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000080001, '1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000080001, '1-00000000-0000-7000-8000-000000000006');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000080001, '1-00000000-0000-7000-8000-000000000007');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000080001, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000000', 1000000000, '1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000000', 1000001000, '1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (1, 'lanebwaiting', 1700000080001, '1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (1, 'flows', 1700000080001, 'f1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (1, 'flows', 1700000080001, 'f1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (1, 'due', 1700003680001, 'f1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000001', 1000000000, '1-00000000-0000-7000-8000-000000000006');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000001', 1000001000, '1-00000000-0000-7000-8000-000000000007');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000001', 1000002000, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (1, 'laneacompleted', 1700000080001, '1-00000000-0000-7000-8000-000000000006');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000006', 1, '1-00000000-0000-7000-8000-000000000007');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000006', 1, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000007', 1, '1-00000000-0000-7000-8000-000000000006');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000008', 1, '1-00000000-0000-7000-8000-000000000006');
INSERT INTO recorded_schema.entry VALUES (1, 'laneacompleted', 1700000080001, '1-00000000-0000-7000-8000-000000000007');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000007', 1, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000008', 1, '1-00000000-0000-7000-8000-000000000007');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149000, '1-00000000-0000-7000-8000-000000000012');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149000, '1-00000000-0000-7000-8000-000000000013');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149000, '1-00000000-0000-7000-8000-000000000014');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149000, '1-00000000-0000-7000-8000-000000000015');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149000, '1-00000000-0000-7000-8000-000000000016');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000000000, '1-00000000-0000-7000-8000-000000000012');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000001000, '1-00000000-0000-7000-8000-000000000013');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000002000, '1-00000000-0000-7000-8000-000000000014');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000003000, '1-00000000-0000-7000-8000-000000000015');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000004000, '1-00000000-0000-7000-8000-000000000016');
INSERT INTO recorded_schema.entry VALUES (1, 'flows', 1700000149000, 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.entry VALUES (1, 'waitpoints1-00000000-0000-7000-8000-000000000013', 0, '1-00000000-0000-7000-8000-000000000013door');
INSERT INTO recorded_schema.entry VALUES (1, 'waitpoints1-00000000-0000-7000-8000-000000000013', 0, '1-00000000-0000-7000-8000-000000000013gate');
INSERT INTO recorded_schema.entry VALUES (1, 'steps1-00000000-0000-7000-8000-000000000013', 0, '1-00000000-0000-7000-8000-000000000013waitstep 1');
INSERT INTO recorded_schema.entry VALUES (1, 'created', 1700000149999, '1-00000000-0000-7000-8000-000000000022');
INSERT INTO recorded_schema.entry VALUES (1, 'membersf1-00000000-0000-7000-8000-000000000002', 1000002999, '1-00000000-0000-7000-8000-000000000022');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000022', 0, '1-00000000-0000-7000-8000-000000000015');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000015', 0, '1-00000000-0000-7000-8000-000000000022');
INSERT INTO recorded_schema.entry VALUES (1, 'laneacompleted', 1700000149000, '1-00000000-0000-7000-8000-000000000015');
INSERT INTO recorded_schema.entry VALUES (1, 'attempts1-00000000-0000-7000-8000-000000000012', 1, '1-00000000-0000-7000-8000-0000000000121');
INSERT INTO recorded_schema.entry VALUES (1, 'waitpoints1-00000000-0000-7000-8000-000000000012', 0, '1-00000000-0000-7000-8000-000000000012@größer');
INSERT INTO recorded_schema.entry VALUES (1, 'signals1-00000000-0000-7000-8000-000000000012', 1, '1-00000000-0000-7000-8000-000000000012@größer1k0');
INSERT INTO recorded_schema.entry VALUES (1, 'inbox1-00000000-0000-7000-8000-000000000012@größer', 1, '1-00000000-0000-7000-8000-000000000012@größer1k0');
INSERT INTO recorded_schema.entry VALUES (1, 'attempts1-00000000-0000-7000-8000-000000000012', 2, '1-00000000-0000-7000-8000-0000000000122');
INSERT INTO recorded_schema.entry VALUES (1, 'laneafailed', 1700000149000, '1-00000000-0000-7000-8000-000000000012');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000012', 1, '1-00000000-0000-7000-8000-000000000016');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000016', 1, '1-00000000-0000-7000-8000-000000000012');
INSERT INTO recorded_schema.entry VALUES (1, 'laneaskipped', 1700000149000, '1-00000000-0000-7000-8000-000000000016');
INSERT INTO recorded_schema.entry VALUES (1, 'waitpoints1-00000000-0000-7000-8000-000000000022', 0, '1-00000000-0000-7000-8000-000000000022door');
INSERT INTO recorded_schema.entry VALUES (1, 'waitpoints1-00000000-0000-7000-8000-000000000022', 0, '1-00000000-0000-7000-8000-000000000022gate');
INSERT INTO recorded_schema.entry VALUES (1, 'steps1-00000000-0000-7000-8000-000000000022', 0, '1-00000000-0000-7000-8000-000000000022waitstep 1');
INSERT INTO recorded_schema.entry VALUES (1, 'attempts1-00000000-0000-7000-8000-000000000008', 1, '1-00000000-0000-7000-8000-0000000000081');
INSERT INTO recorded_schema.entry VALUES (1, 'readybone', 700000149999, '1-00000000-0000-7000-8000-000000000022');
INSERT INTO recorded_schema.entry VALUES (1, 'attempts1-00000000-0000-7000-8000-000000000013', 1, '1-00000000-0000-7000-8000-0000000000131');
INSERT INTO recorded_schema.entry VALUES (1, 'lanebexpired', 1700000149000, '1-00000000-0000-7000-8000-000000000013');
INSERT INTO recorded_schema.entry VALUES (1, 'out1-00000000-0000-7000-8000-000000000013', 1, '1-00000000-0000-7000-8000-000000000014');
INSERT INTO recorded_schema.entry VALUES (1, 'in1-00000000-0000-7000-8000-000000000014', 1, '1-00000000-0000-7000-8000-000000000013');
INSERT INTO recorded_schema.entry VALUES (1, 'lanebskipped', 1700000149000, '1-00000000-0000-7000-8000-000000000014');
INSERT INTO recorded_schema.entry VALUES (1, 'laneacancelled', 1700000080001, '1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (1, 'due', 1700000190001, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (1, 'steps1-00000000-0000-7000-8000-000000000008', 0, '1-00000000-0000-7000-8000-000000000008waitstep 0');
INSERT INTO recorded_schema.entry VALUES (1, 'laneasuspended', 1700000080001, '1-00000000-0000-7000-8000-000000000008');
INSERT INTO recorded_schema.entry VALUES (2, 'queues', 0, 'bone');
INSERT INTO recorded_schema.entry VALUES (2, 'created', 1700000189001, '2-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (2, 'created', 1700000189001, '2-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (2, 'tagteam🟥', 1700000189001, '2-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (2, 'waitpoints2-00000000-0000-7000-8000-000000000000', 0, '2-00000000-0000-7000-8000-000000000000@größer');
INSERT INTO recorded_schema.entry VALUES (2, 'signals2-00000000-0000-7000-8000-000000000000', 1, '2-00000000-0000-7000-8000-000000000000@größer1k2');
INSERT INTO recorded_schema.entry VALUES (2, 'waitpoints2-00000000-0000-7000-8000-000000000001', 0, '2-00000000-0000-7000-8000-000000000001@größer');
INSERT INTO recorded_schema.entry VALUES (2, 'signals2-00000000-0000-7000-8000-000000000001', 1, '2-00000000-0000-7000-8000-000000000001@größer1k0');
INSERT INTO recorded_schema.entry VALUES (2, 'inbox2-00000000-0000-7000-8000-000000000001@größer', 1, '2-00000000-0000-7000-8000-000000000001@größer1k0');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000001', 0, '2-00000000-0000-7000-8000-000000000001callstep 0');
INSERT INTO recorded_schema.entry VALUES (2, 'attempts2-00000000-0000-7000-8000-000000000001', 1, '2-00000000-0000-7000-8000-0000000000011');
INSERT INTO recorded_schema.entry VALUES (2, 'lanebfailed', 1700000189001, '2-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (2, 'purge', 1700000249001, '2-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.entry VALUES (2, 'attempts2-00000000-0000-7000-8000-000000000000', 1, '2-00000000-0000-7000-8000-0000000000001');
INSERT INTO recorded_schema.entry VALUES (2, 'attempts2-00000000-0000-7000-8000-000000000000', 2, '2-00000000-0000-7000-8000-0000000000002');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 0, '2-00000000-0000-7000-8000-000000000000waitstep 0');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 1, '2-00000000-0000-7000-8000-000000000000callstep 0');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 2, '2-00000000-0000-7000-8000-000000000000nowstep 0');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 3, '2-00000000-0000-7000-8000-000000000000waitstep 1');
INSERT INTO recorded_schema.entry VALUES (2, 'waitpoints2-00000000-0000-7000-8000-000000000000', 0, '2-00000000-0000-7000-8000-000000000000@go');
INSERT INTO recorded_schema.entry VALUES (2, 'signals2-00000000-0000-7000-8000-000000000000', 2, '2-00000000-0000-7000-8000-000000000000@go1k2');
INSERT INTO recorded_schema.entry VALUES (2, 'attempts2-00000000-0000-7000-8000-000000000000', 3, '2-00000000-0000-7000-8000-0000000000003');
INSERT INTO recorded_schema.entry VALUES (2, 'attempts2-00000000-0000-7000-8000-000000000000', 4, '2-00000000-0000-7000-8000-0000000000004');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 4, '2-00000000-0000-7000-8000-000000000000callstep 2');
INSERT INTO recorded_schema.entry VALUES (2, 'waitpoints2-00000000-0000-7000-8000-000000000000', 0, '2-00000000-0000-7000-8000-000000000000door');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 5, '2-00000000-0000-7000-8000-000000000000waitpointdoor');
INSERT INTO recorded_schema.entry VALUES (2, 'due', 1700000328999, '2-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.entry VALUES (2, 'steps2-00000000-0000-7000-8000-000000000000', 6, '2-00000000-0000-7000-8000-000000000000waitstep 2');
INSERT INTO recorded_schema.entry VALUES (2, 'lanebsuspended', 1700000189001, '2-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.event_batch VALUES (0, 1, 2, 1700000000000, '[[0,1700000000000,"0-00000000-0000-7000-8000-000000000000","beta","one","a",["colour","grün"],false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,false],[0,1700000000000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,false,false,false,false,1700000000001,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 3, 3, 1700000000000, '[[10,1700000000000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,3,false,"execution_deadline",false,"deadline",false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 4, 7, 1700000004000, '[[11,1700000004000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,false,false,"again","me",false,false,false,false,false,false,false,false],[14,1700000004000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,1,false,false,false,false,false],[10,1700000004000,"0-00000000-0000-7000-8000-000000000000","beta","one","a",["colour","grün"],false,0,false,false,2,false,"進捗 50 %","me",false,false,false,false,false,false,false,false],[10,1700000004000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,3,false,"execution_deadline",false,"deadline",false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 8, 9, 1700000034000, '[[11,1700000034000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,false,false,"again","me",false,false,false,false,false,false,false,false],[10,1700000034000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,2,false,"line one\nline two","me",false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 10, 10, 1700000034000, '[[11,1700000034000,"0-00000000-0000-7000-8000-000000000000","beta","one","a",["colour","grün"],false,0,false,false,false,false,"again","me",false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 11, 11, 1700000034000, '[[1,1700000034000,"0-00000000-0000-7000-8000-000000000000","acme","two","b",["team","grün"],false,false,false,false,false,1700000039000,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 12, 13, 1700000040000, '[[8,1700000040000,"0-00000000-0000-7000-8000-000000000000","acme","two","b",["team","grün"],false,0,false,false,false,false,false,false,false,false,false,false,false,false,false,false],[2,1700000040000,"0-00000000-0000-7000-8000-000000000000","acme","two","b",["team","grün"],1,1,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 14, 14, 1700000070000, '[[11,1700000070000,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,false,false,"again","me",false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 15, 16, 1700000075001, '[[4,1700000075001,"0-00000000-0000-7000-8000-000000000000","acme","two","b",["team","grün"],1,1,"worker","worker-0",false,false,"the worker did not renew its lease",false,false,false,false,false,false,false,false,false],[10,1700000075001,"0-00000000-0000-7000-8000-000000000001","acme","one","a",[],false,0,false,false,3,false,"execution_deadline",false,"deadline",false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (0, 17, 17, 1700000079001, '[[0,1700000079001,"0-00000000-0000-7000-8000-000000000002","acme","two","b",["colour","","team",""],false,false,false,false,false,1700000084001,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 1, 8, 1700000080001, '[[18,1700000080001,"f1-00000000-0000-7000-8000-000000000000","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000000",false,false,false,false],[0,1700000080001,"1-00000000-0000-7000-8000-000000000000","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000000",false,false,false,false],[0,1700000080001,"1-00000000-0000-7000-8000-000000000001","acme","one","b",[],false,false,false,false,false,1700000081001,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000000",false,false,false,false],[18,1700000080001,"f1-00000000-0000-7000-8000-000000000001","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[0,1700000080001,"1-00000000-0000-7000-8000-000000000006","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[0,1700000080001,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[0,1700000080001,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[19,1700000080001,"f1-00000000-0000-7000-8000-000000000001","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 9, 9, 1700000110001, '[[2,1700000110001,"1-00000000-0000-7000-8000-000000000006","acme","one","a",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 10, 12, 1700000111000, '[[10,1700000111000,"1-00000000-0000-7000-8000-000000000006","acme","one","a",[],1,1,"worker","worker-0",0,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[17,1700000111000,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[2,1700000111000,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 13, 13, 1700000111999, '[[6,1700000111999,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],1,1,"worker","worker-0",false,false,"shutdown",false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 14, 14, 1700000111999, '[[2,1700000111999,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],1,2,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 15, 16, 1700000112999, '[[10,1700000112999,"1-00000000-0000-7000-8000-000000000007","acme","one","a",[],1,2,"worker","worker-0",0,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[17,1700000112999,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 17, 17, 1700000148999, '[[2,1700000148999,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 18, 19, 1700000148999, '[[10,1700000148999,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],1,1,"worker","worker-0",0,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[20,1700000148999,"f1-00000000-0000-7000-8000-000000000001","acme","release","",["team","red"],false,false,false,false,0,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 20, 30, 1700000149000, '[[18,1700000149000,"f1-00000000-0000-7000-8000-000000000002","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[0,1700000149000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[0,1700000149000,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[0,1700000149000,"1-00000000-0000-7000-8000-000000000014","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[0,1700000149000,"1-00000000-0000-7000-8000-000000000015","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[0,1700000149000,"1-00000000-0000-7000-8000-000000000016","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[19,1700000149000,"f1-00000000-0000-7000-8000-000000000002","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000149000,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000149000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000149000,"1-00000000-0000-7000-8000-000000000015","acme","one","a",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[14,1700000149000,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,0,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 31, 33, 1700000149999, '[[29,1700000149999,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,"door",false,false],[29,1700000149999,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,"gate",false,false],[25,1700000149999,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],1,1,"worker","worker-0",false,false,"custom:größer",false,false,false,false,"f1-00000000-0000-7000-8000-000000000002","step 1",false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 34, 35, 1700000149999, '[[0,1700000149999,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],false,false,false,false,false,1700000150999,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[10,1700000149999,"1-00000000-0000-7000-8000-000000000015","acme","one","a",[],1,1,"worker","worker-0",0,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 36, 40, 1700000151000, '[[4,1700000151000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],1,1,"worker","worker-0",false,false,"the worker did not renew its lease",false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[8,1700000151000,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],false,0,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000151000,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],1,1,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000151000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],2,2,"worker","worker-0",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[31,1700000151000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],false,false,false,false,false,false,false,"bob",false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,"@größer","größer","buffered"]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 41, 42, 1700000151000, '[[10,1700000151000,"1-00000000-0000-7000-8000-000000000012","acme","one","a",[],2,2,"worker","worker-0",1,false,"",false,"odd",false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[10,1700000151000,"1-00000000-0000-7000-8000-000000000016","acme","one","a",[],false,0,false,false,4,false,"dependency_impossible","1-00000000-0000-7000-8000-000000000012",false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 43, 45, 1700000151000, '[[29,1700000151000,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,"door",false,false],[29,1700000151000,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,"gate",false,false],[25,1700000151000,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],1,1,"worker","worker-0",false,1700000156000,"custom:größer",false,false,false,false,"f1-00000000-0000-7000-8000-000000000002","step 1",false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 46, 48, 1700000151001, '[[11,1700000151001,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],false,false,false,false,false,false,"again","me",false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[22,1700000151001,"f1-00000000-0000-7000-8000-000000000001","acme","release","",["team","red"],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[17,1700000151001,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],false,false,false,false,false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 49, 53, 1700000181001, '[[26,1700000181001,"1-00000000-0000-7000-8000-000000000022","acme","one","b",[],1,1,false,false,false,false,"timeout",false,false,false,false,"f1-00000000-0000-7000-8000-000000000002","step 1",false,false,false],[10,1700000181001,"1-00000000-0000-7000-8000-000000000013","acme","one","b",[],1,1,"worker","worker-0",3,false,"execution_deadline",false,"deadline",false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[10,1700000181001,"1-00000000-0000-7000-8000-000000000014","acme","one","b",[],false,0,false,false,4,false,"dependency_impossible","1-00000000-0000-7000-8000-000000000013",false,false,false,"f1-00000000-0000-7000-8000-000000000002",false,false,false,false],[2,1700000181001,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],2,2,"worker","worker-1",false,false,false,false,false,false,false,"f1-00000000-0000-7000-8000-000000000001",false,false,false,false],[10,1700000181001,"1-00000000-0000-7000-8000-000000000000","acme","one","a",[],false,0,false,false,2,false,"👩‍🚀 \"☃\" \\ \u0000 \u001f ","me",false,false,false,"f1-00000000-0000-7000-8000-000000000000",false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (1, 54, 54, 1700000185001, '[[25,1700000185001,"1-00000000-0000-7000-8000-000000000008","acme","one","a",[],2,2,"worker","worker-1",false,1700000215001,"custom:größer",false,false,false,false,"f1-00000000-0000-7000-8000-000000000001","step 0",false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 1, 2, 1700000189001, '[[0,1700000189001,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,false],[0,1700000189001,"2-00000000-0000-7000-8000-000000000001","beta","one","b",["colour","blue"],false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 3, 5, 1700000189001, '[[2,1700000189001,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],1,1,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false],[2,1700000189001,"2-00000000-0000-7000-8000-000000000001","beta","one","b",["colour","blue"],1,1,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false],[31,1700000189001,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],false,false,false,false,false,false,false,"ann",false,false,false,false,false,"@größer","go","buffered"]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 6, 8, 1700000189001, '[[31,1700000189001,"2-00000000-0000-7000-8000-000000000001","beta","one","b",["colour","blue"],false,false,false,false,false,false,false,"bob",false,false,false,false,false,"@größer","größer","buffered"],[24,1700000189001,"2-00000000-0000-7000-8000-000000000001","beta","one","b",["colour","blue"],1,false,false,false,false,false,"größer als nötig",false,"transient",false,false,false,"step 0",false,false,"failed"],[10,1700000189001,"2-00000000-0000-7000-8000-000000000001","beta","one","b",["colour","blue"],1,1,"worker","worker-0",1,false,"line one\nline two",false,"odd",false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 9, 9, 1700000192000, '[[5,1700000192000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],1,1,"worker","worker-0",false,false,"stuck","me",false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 10, 10, 1700000222000, '[[2,1700000222000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],2,2,"worker","worker-1",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 11, 12, 1700000222000, '[[3,1700000222000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],2,2,"worker","worker-1",false,false,"進捗 50 %",false,"transient",false,false,false,false,false,false,false],[2,1700000222000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,3,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 13, 13, 1700000223000, '[[24,1700000223000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,false,false,false,false,false,false,false,false,false,false,false,"step 0",false,false,"satisfied"]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 14, 15, 1700000224000, '[[24,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,false,false,false,false,false,false,false,false,false,false,false,"step 0",false,false,"completed"],[24,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,false,false,false,false,false,false,false,false,false,false,false,"step 0",false,false,"completed"]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 16, 19, 1700000224000, '[[25,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,3,"worker","worker-0",false,false,"custom:größer",false,false,false,false,false,"step 1",false,false,false],[31,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],false,false,false,false,false,false,false,"ann",false,false,false,false,"step 1","@go","reject","resumed"],[26,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,3,false,false,false,false,"signal","ann",false,false,false,false,"step 1",false,false,false],[2,1700000224000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,4,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 20, 21, 1700000254000, '[[4,1700000254000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],3,4,"worker","worker-0",false,false,"the worker did not renew its lease",false,false,false,false,false,false,false,false,false],[2,1700000254000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],4,5,"worker","worker-0",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 22, 23, 1700000293000, '[[4,1700000293000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],4,5,"worker","worker-0",false,false,"the worker did not renew its lease",false,false,false,false,false,false,false,false,false],[2,1700000293000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],5,6,"worker","worker-1",false,false,false,false,false,false,false,false,false,false,false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 24, 24, 1700000293000, '[[24,1700000293000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],5,false,false,false,false,false,false,false,false,false,false,false,"step 2",false,false,"completed"]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 25, 26, 1700000298000, '[[29,1700000298000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],false,false,false,false,false,false,false,false,false,false,false,false,false,"door",false,false],[30,1700000298000,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],false,false,false,false,false,false,"no need","me",false,false,false,false,false,"door",false,false]]');
INSERT INTO recorded_schema.event_batch VALUES (2, 27, 27, 1700000298999, '[[25,1700000298999,"2-00000000-0000-7000-8000-000000000000","acme","one","b",["colour","grün","team","🟥"],5,6,"worker","worker-1",false,1700000328999,"custom:größer",false,false,false,false,false,"step 2",false,false,false]]');
INSERT INTO recorded_schema.execution VALUES ('0-00000000-0000-7000-8000-000000000000', 0, NULL, 'acme', 'two', 'b', 'two', 'waiting', 0, 1, 0, 1700000000000, 1700000075001, 1700000040000, NULL, NULL, 'worker', NULL, '["0-00000000-0000-7000-8000-000000000000",false,"submit-9","acme","two","b","two",0,[["team","grün",1]],[5,[1,333,86400000,1.1],0,[]],false,false,false,30000,[1,1],false,1700000000000,1700000075001,1700000040000,[0],2,1,[1,0,1700000040000,35001,"worker","worker-0"],0,1,0,false,false,["claim-12",1,7,false],false,false,false]', NULL);
INSERT INTO recorded_schema.execution VALUES ('0-00000000-0000-7000-8000-000000000001', 0, 'größer als nötig', 'acme', 'one', 'a', 'one', 'expired', 1, NULL, 0, 1700000000000, 1700000075001, NULL, NULL, 1700000075001, NULL, 'the execution did not end before its deadline', '["0-00000000-0000-7000-8000-000000000001","größer als nötig","submit-2","acme","one","a","one",1,[],[1,[1,333,86400000,1.1],0,[]],false,0,1700000070000,60000,[3,1],false,1700000000000,1700000075001,false,[5,3,1700000075001,"execution_deadline",false],0,0,false,0,0,3,["deadline","the execution did not end before its deadline",false,1700000075001],false,false,["replay-15","again","me",1700000070000],false,false]', NULL);
INSERT INTO recorded_schema.execution VALUES ('0-00000000-0000-7000-8000-000000000002', 0, 'größer als nötig', 'acme', 'two', 'b', 'two', 'delayed', 1, NULL, 0, 1700000079001, 1700000079001, NULL, 1700000084001, NULL, NULL, NULL, '["0-00000000-0000-7000-8000-000000000002","größer als nötig","submit-19","acme","two","b","two",1,[["colour","",0],["team","",1]],[3,[1,333,86400000,1.1],0,[]],false,false,false,30000,[2,1],false,1700000079001,1700000079001,false,[1,1700000084001,0],0,0,false,0,0,0,false,false,false,false,false,false]', NULL);
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000000', 1, NULL, 'acme', 'one', 'a', 'one', 'cancelled', 0, NULL, 0, 1700000080001, 1700000181001, NULL, NULL, 1700000181001, NULL, NULL, '["1-00000000-0000-7000-8000-000000000000",false,false,"acme","one","a","one",0,[],[1,[0,1000],0,[]],false,false,false,0,[1,1],false,1700000080001,1700000181001,false,[5,2,1700000181001,"👩‍🚀 \"☃\" \\ \u0000 \u001f ","me"],0,0,false,0,0,0,false,false,false,false,["f1-00000000-0000-7000-8000-000000000000","n0",1000000000,false,false,0,[],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000001', 1, NULL, 'acme', 'one', 'b', 'one', 'waiting', 1, NULL, 0, 1700000080001, 1700000080001, NULL, NULL, NULL, NULL, NULL, '["1-00000000-0000-7000-8000-000000000001",false,false,"acme","one","b","one",1,[],[1,[0,1000],0,[]],false,false,false,0,false,false,1700000080001,1700000080001,false,[2,4],0,0,false,0,0,0,false,false,false,false,["f1-00000000-0000-7000-8000-000000000000","n1",1000001000,false,[1700000081001,0],0,[],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000000');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000006', 1, NULL, 'acme', 'one', 'a', 'one', 'completed', 0, 1, 0, 1700000080001, 1700000111000, 1700000110001, NULL, 1700000111000, 'worker', NULL, '["1-00000000-0000-7000-8000-000000000006",false,false,"acme","one","a","one",0,[],[2,[0,1000],0,[]],false,false,false,0,[3,1],[4,1],1700000080001,1700000111000,1700000110001,[5,0,1700000111000,false,false],0,1,[1,0,1700000110001,999,"worker","worker-0"],0,0,0,false,false,["claim-6",1,0,false],false,["f1-00000000-0000-7000-8000-000000000001","n6",1000000000,false,false,0,[],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000008', 1, NULL, 'acme', 'one', 'a', 'one', 'suspended', 0, 2, 0, 1700000080001, 1700000185001, 1700000148999, 1700000190001, NULL, 'worker', NULL, '["1-00000000-0000-7000-8000-000000000008",false,false,"acme","one","a","one",0,[],[1,[0,1000],0,[]],false,false,false,0,false,false,1700000080001,1700000185001,1700000148999,[4,"wait\u001fstep 0","custom:größer",1700000215001,1700000190001],4,2,[2,3,1700000181001,4000,"worker","worker-1"],0,0,1,false,false,["claim-49",2,11,1700000215001],["replay-47","again","me",1700000151001],["f1-00000000-0000-7000-8000-000000000001","n8",1000002000,[2,2,0,2,2,0,0,1,1700000112999,false],false,2,[],0,false,0],[0,0,1,1,0,0,0,0,[],[],0,false,0]]', 'f1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000007', 1, NULL, 'acme', 'one', 'a', 'one', 'completed', 1, 1, 0, 1700000080001, 1700000112999, 1700000111000, NULL, 1700000112999, 'worker', NULL, '["1-00000000-0000-7000-8000-000000000007",false,false,"acme","one","a","one",1,[],[2,[0,1000],0,[]],false,false,false,0,[0,1],[4,1],1700000080001,1700000112999,1700000111000,[5,0,1700000112999,false,false],4,2,[1,0,1700000111000,1999,"worker","worker-0"],0,0,0,false,false,["claim-10",2,0,false],false,["f1-00000000-0000-7000-8000-000000000001","n7",1000001000,[0,0,1,1,1,0,0,1,1700000111000,false],false,1,[["from 0","1-00000000-0000-7000-8000-000000000006",[4,1]]],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000001');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000015', 1, NULL, 'acme', 'one', 'a', 'one', 'completed', 0, 1, 0, 1700000149000, 1700000149999, 1700000149000, NULL, 1700000149999, 'worker', NULL, '["1-00000000-0000-7000-8000-000000000015",false,false,"acme","one","a","one",0,[],[2,[0,1000],0,[]],false,false,false,0,false,[3,1],1700000149000,1700000149999,1700000149000,[5,0,1700000149999,false,false],0,1,[1,0,1700000149000,999,"worker","worker-0"],0,0,0,false,false,["claim-22",1,0,false],false,["f1-00000000-0000-7000-8000-000000000002","n15",1000003000,[0,0,1,1,0,0,0,0,false,false],false,0,[],1,false,0],false]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000013', 1, NULL, 'acme', 'one', 'b', 'one', 'expired', 0, 1, 0, 1700000149000, 1700000181001, 1700000149000, NULL, 1700000181001, 'worker', 'the execution did not end before its deadline', '["1-00000000-0000-7000-8000-000000000013",false,false,"acme","one","b","one",0,[],[1,[0,1000],0,[]],false,20000,1700000169000,0,[4,1],false,1700000149000,1700000181001,1700000149000,[5,3,1700000181001,"execution_deadline",false],4,1,[1,0,1700000149000,999,"worker","worker-0"],0,0,0,["deadline","the execution did not end before its deadline",false,1700000181001],false,["claim-22",1,11,false],false,["f1-00000000-0000-7000-8000-000000000002","n13",1000001000,false,false,0,[],0,false,0],[0,0,1,1,0,0,0,0,[],[],0,false,0]]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000012', 1, NULL, 'acme', 'one', 'a', 'one', 'failed', 0, 2, 1, 1700000149000, 1700000151000, 1700000149000, NULL, 1700000151000, 'worker', '', '["1-00000000-0000-7000-8000-000000000012",false,false,"acme","one","a","one",0,[],[1,[0,1000],0,[]],false,false,false,0,[0,1],false,1700000149000,1700000151000,1700000149000,[5,1,1700000151000,"",false],2,2,[2,2,1700000151000,0,"worker","worker-0"],1,1,0,["odd","","進捗 50 %",1700000151000],false,["claim-32",2,1,false],false,["f1-00000000-0000-7000-8000-000000000002","n12",1000000000,false,false,0,[],0,false,0],[0,0,0,0,0,0,1,1,[],[],0,false,0]]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000016', 1, NULL, 'acme', 'one', 'a', 'one', 'skipped', 0, NULL, 0, 1700000149000, 1700000151000, NULL, NULL, 1700000151000, NULL, NULL, '["1-00000000-0000-7000-8000-000000000016",false,false,"acme","one","a","one",0,[],[2,[0,1000],0,[]],false,false,false,0,[2,1],false,1700000149000,1700000151000,false,[5,4,1700000151000,"dependency_impossible","1-00000000-0000-7000-8000-000000000012"],0,0,false,0,0,0,false,false,false,false,["f1-00000000-0000-7000-8000-000000000002","n16",1000004000,[0,0,1,1,0,1,0,2,1700000151000,false],false,1,[],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000014', 1, NULL, 'acme', 'one', 'b', 'one', 'skipped', 0, NULL, 0, 1700000149000, 1700000181001, NULL, NULL, 1700000181001, NULL, NULL, '["1-00000000-0000-7000-8000-000000000014",false,false,"acme","one","b","one",0,[],[2,[0,1000],0,[]],false,false,false,0,false,false,1700000149000,1700000181001,false,[5,4,1700000181001,"dependency_impossible","1-00000000-0000-7000-8000-000000000013"],0,0,false,0,0,0,false,false,false,false,["f1-00000000-0000-7000-8000-000000000002","n14",1000002000,[0,0,1,1,0,1,0,2,1700000181001,false],false,0,[],0,false,0],false]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('2-00000000-0000-7000-8000-000000000001', 2, '👩‍🚀 "☃" \ ␀  ', 'beta', 'one', 'b', 'one', 'failed', 9000, 1, 1, 1700000189001, 1700000189001, 1700000189001, NULL, 1700000189001, 'worker', 'line one
line two', '["2-00000000-0000-7000-8000-000000000001","👩‍🚀 \"☃\" \\ \u0000 \u001f ","submit-2","beta","one","b","one",9000,[["colour","blue",0]],[5,[0,1000],0,["transient"]],false,false,false,60000,[1,1],false,1700000189001,1700000189001,1700000189001,[5,1,1700000189001,"line one\nline two",false],0,1,[1,0,1700000189001,0,"worker","worker-0"],1,0,0,["odd","line one\nline two","line one\nline two",1700000189001],false,["claim-3",1,1,false],false,false,[0,0,1,1,16,0,1,1,[],[],0,false,0]]', NULL);
INSERT INTO recorded_schema.execution VALUES ('1-00000000-0000-7000-8000-000000000022', 1, NULL, 'acme', 'one', 'b', 'one', 'waiting', 1, 1, 0, 1700000149999, 1700000181001, 1700000151000, NULL, NULL, 'worker', NULL, '["1-00000000-0000-7000-8000-000000000022",false,false,"acme","one","b","one",1,[],[1,[0,1000],0,[]],false,false,false,0,[2,1],false,1700000149999,1700000181001,1700000151000,[0],4,1,[1,0,1700000151000,0,"worker","worker-0"],0,0,0,false,false,["claim-32",1,11,1700000156000],false,["f1-00000000-0000-7000-8000-000000000002","n22",1000002999,false,false,0,[],0,false,0],[0,0,1,1,0,0,0,0,[],[],0,["step 1",2],0]]', 'f1-00000000-0000-7000-8000-000000000002');
INSERT INTO recorded_schema.execution VALUES ('2-00000000-0000-7000-8000-000000000000', 2, 'größer als nötig', 'acme', 'one', 'b', 'one', 'suspended', 9000, 5, 1, 1700000189001, 1700000298999, 1700000189001, 1700000328999, NULL, 'worker', '進捗 50 %', '["2-00000000-0000-7000-8000-000000000000","größer als nötig","submit-1","acme","one","b","one",9000,[["colour","grün",0],["team","🟥",1]],[2,[0,0],1,[]],false,false,false,60000,[2,1],false,1700000189001,1700000298999,1700000189001,[4,"wait\u001fstep 2","custom:größer",1700000328999,false],4,6,[5,2,1700000293000,5999,"worker","worker-1"],1,3,0,["transient","進捗 50 %","👩‍🚀 \"☃\" \\ \u0000 \u001f ",1700000222000],false,["claim-20",6,11,1700000328999],false,false,[0,0,7,7,7,1,2,0,[],[],0,false,0]]', NULL);
INSERT INTO recorded_schema.flow VALUES ('f1-00000000-0000-7000-8000-000000000002', 1, NULL, 'acme', 'release', 'running', 'sealed', 6, 3, 1700000149000, 1700000181001, NULL, NULL, '["f1-00000000-0000-7000-8000-000000000002",false,"flow-21","acme","release",[["team","red",1]],0,60000,1700000149000,1700000181001,[2],["{\"policies\":[null,null,null,null,null],\"edges\":[{\"from\":0,\"to\":4,\"hands\":\"input\"},{\"from\":1,\"to\":2,\"hands\":\"nothing\"}]}",5,2],6,3,[1,0,0,0,0,0,1,1,0,1,2,0],0,0,0,0,false,16]');
INSERT INTO recorded_schema.flow VALUES ('f1-00000000-0000-7000-8000-000000000000', 1, NULL, 'acme', 'release', 'running', 'held', 2, 0, 1700000080001, 1700000181001, 1700003680001, NULL, '["f1-00000000-0000-7000-8000-000000000000",false,"flow-1","acme","release",[["team","red",1]],0,30000,1700000080001,1700000181001,[0,1700003680001],["{\"policies\":[null,null,{\"policy\":\"quorum\",\"need\":2,\"losers\":\"cancel\"}],\"edges\":[{\"from\":0,\"to\":2,\"hands\":\"nothing\"},{\"from\":1,\"to\":2,\"hands\":\"input\"}]}",3,2],2,0,[1,0,0,0,0,0,0,0,1,0,0,0],0,0,0,0,false,2]');
INSERT INTO recorded_schema.flow VALUES ('f1-00000000-0000-7000-8000-000000000001', 1, NULL, 'acme', 'release', 'blocked', 'sealed', 3, 3, 1700000080001, 1700000185001, NULL, NULL, '["f1-00000000-0000-7000-8000-000000000001",false,"flow-2","acme","release",[["team","red",1]],1,60000,1700000080001,1700000185001,[2],["{\"policies\":[null,null,{\"policy\":\"quorum\",\"need\":2,\"losers\":\"cancel\"}],\"edges\":[{\"from\":0,\"to\":1,\"hands\":\"input\"},{\"from\":0,\"to\":2,\"hands\":\"input\"},{\"from\":1,\"to\":2,\"hands\":\"input\"}]}",3,3],3,3,[0,0,0,0,0,1,2,0,0,0,0,0],0,0,1,1,false,12]');
INSERT INTO recorded_schema.meta VALUES ('schema_version', '4');
INSERT INTO recorded_schema.meta VALUES ('data_version', '1');
INSERT INTO recorded_schema.meta VALUES ('level', '1');
INSERT INTO recorded_schema.meta VALUES ('execution_partitions', '4');
INSERT INTO recorded_schema.meta VALUES ('indexed_tags', '["team"]');
INSERT INTO recorded_schema.meta VALUES ('lock_space', '1033282649');
INSERT INTO recorded_schema.partition VALUES (3, 'fp:3', 0);
INSERT INTO recorded_schema.partition VALUES (1, 'fp:1', 54);
INSERT INTO recorded_schema.partition VALUES (2, 'fp:2', 27);
INSERT INTO recorded_schema.partition VALUES (0, 'fp:0', 17);
INSERT INTO recorded_schema.queue VALUES ('aone', 0, 'a', 'one', 1700000000000, '["a\u001fone","a","one",1700000000000]');
INSERT INTO recorded_schema.queue VALUES ('btwo', 0, 'b', 'two', 1700000034000, '["b\u001ftwo","b","two",1700000034000]');
INSERT INTO recorded_schema.queue VALUES ('aone', 1, 'a', 'one', 1700000080001, '["a\u001fone","a","one",1700000080001]');
INSERT INTO recorded_schema.queue VALUES ('bone', 1, 'b', 'one', 1700000080001, '["b\u001fone","b","one",1700000080001]');
INSERT INTO recorded_schema.queue VALUES ('bone', 2, 'b', 'one', 1700000189001, '["b\u001fone","b","one",1700000189001]');
INSERT INTO recorded_schema.signal VALUES ('1-00000000-0000-7000-8000-000000000012@größer1k0', 1, '1-00000000-0000-7000-8000-000000000012', '@größer', 1, 'größer', 'caller', 'bob', 'buffered', 1700000151000, '["1-00000000-0000-7000-8000-000000000012\u001f@größer\u001f1\u001fk0","1-00000000-0000-7000-8000-000000000012","@größer",1,1,"k0","größer",[1,"bob"],[0,1],4,1,1700000151000]');
INSERT INTO recorded_schema.signal VALUES ('2-00000000-0000-7000-8000-000000000001@größer1k0', 2, '2-00000000-0000-7000-8000-000000000001', '@größer', 1, 'größer', 'caller', 'bob', 'buffered', 1700000189001, '["2-00000000-0000-7000-8000-000000000001\u001f@größer\u001f1\u001fk0","2-00000000-0000-7000-8000-000000000001","@größer",1,1,"k0","größer",[1,"bob"],[1,1],4,1,1700000189001]');
INSERT INTO recorded_schema.signal VALUES ('2-00000000-0000-7000-8000-000000000000@größer1k2', 2, '2-00000000-0000-7000-8000-000000000000', '@größer', 1, 'go', 'operator', 'ann', 'buffered', 1700000189001, '["2-00000000-0000-7000-8000-000000000000\u001f@größer\u001f1\u001fk2","2-00000000-0000-7000-8000-000000000000","@größer",1,1,"k2","go",[2,"ann"],[2,1],4,0,1700000189001]');
INSERT INTO recorded_schema.signal VALUES ('2-00000000-0000-7000-8000-000000000000@go1k2', 2, '2-00000000-0000-7000-8000-000000000000', '@go', 2, 'reject', 'caller', 'ann', 'resumed', 1700000224000, '["2-00000000-0000-7000-8000-000000000000\u001f@go\u001f1\u001fk2","2-00000000-0000-7000-8000-000000000000","@go",2,1,"k2","reject",[1,"ann"],[2,1],0,0,1700000224000]');
INSERT INTO recorded_schema.step VALUES ('1-00000000-0000-7000-8000-000000000022waitstep 1', 1, '1-00000000-0000-7000-8000-000000000022', 'wait', 'step 1', 0, 'closed', 1, 1700000151000, 1700000181001, '["1-00000000-0000-7000-8000-000000000022\u001fwait\u001fstep 1","1-00000000-0000-7000-8000-000000000022",4,"step 1",0,1700000151000,1,0,[4,1700000181001,2,false,false],["custom:größer",1700000156000,3,[[0,false,3,0,false,[],[],0,[]],[1,0,1,0,false,[],["door"],0,[]],[1,0,1,0,false,[],["@größer"],0,[]],[2,0,1,0,false,[],[],0,[]],[0,0,2,0,false,[],[],0,[]],[1,4,2,1,false,[],["door","gate"],0,[]],[1,4,2,1,false,[],["gate","@go","door"],0,[]]],["door","@größer","gate","@go"],0,5000,0,[],false,0]]');
INSERT INTO recorded_schema.step VALUES ('1-00000000-0000-7000-8000-000000000013waitstep 1', 1, '1-00000000-0000-7000-8000-000000000013', 'wait', 'step 1', 0, 'closed', 1, 1700000149999, 1700000181001, '["1-00000000-0000-7000-8000-000000000013\u001fwait\u001fstep 1","1-00000000-0000-7000-8000-000000000013",4,"step 1",0,1700000149999,1,0,[4,1700000181001,3,false,"execution_deadline"],["custom:größer",false,4,[[1,false,1,2,false,[],["door","gate"],0,[]]],["door","gate"],1000,false,0,[],false,0]]');
INSERT INTO recorded_schema.step VALUES ('1-00000000-0000-7000-8000-000000000008waitstep 0', 1, '1-00000000-0000-7000-8000-000000000008', 'wait', 'step 0', 0, 'open', 1, 1700000185001, NULL, '["1-00000000-0000-7000-8000-000000000008\u001fwait\u001fstep 0","1-00000000-0000-7000-8000-000000000008",4,"step 0",0,1700000185001,1,0,[3,1700000185001],["custom:größer",1700000215001,3,[[1,false,1,0,false,[],["@größer"],0,[]]],["@größer"],0,5000,0,[],false,0]]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000001callstep 0', 2, '2-00000000-0000-7000-8000-000000000001', 'call', 'step 0', 0, 'failed', 1, 1700000189001, 1700000189001, '["2-00000000-0000-7000-8000-000000000001\u001fcall\u001fstep 0","2-00000000-0000-7000-8000-000000000001",0,"step 0",0,1700000189001,1,16,[1,1700000189001,0,["transient","größer als nötig",false,1700000189001]],false]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000waitstep 0', 2, '2-00000000-0000-7000-8000-000000000000', 'wait', 'step 0', 0, 'closed', 1, 1700000223000, 1700000223000, '["2-00000000-0000-7000-8000-000000000000\u001fwait\u001fstep 0","2-00000000-0000-7000-8000-000000000000",4,"step 0",0,1700000223000,1,0,[4,1700000223000,0,false,false],["custom:größer",1700000224000,1,[[1,false,1,0,false,[],["@größer"],1,[]]],["@größer"],false,false,0,[1],1,0]]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000callstep 0', 2, '2-00000000-0000-7000-8000-000000000000', 'call', 'step 0', 1, 'completed', 1, 1700000224000, 1700000224000, '["2-00000000-0000-7000-8000-000000000000\u001fcall\u001fstep 0","2-00000000-0000-7000-8000-000000000000",0,"step 0",1,1700000224000,1,2,[0,1700000224000,[2,1]],false]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000nowstep 0', 2, '2-00000000-0000-7000-8000-000000000000', 'now', 'step 0', 2, 'completed', 1, 1700000224000, 1700000224000, '["2-00000000-0000-7000-8000-000000000000\u001fnow\u001fstep 0","2-00000000-0000-7000-8000-000000000000",1,"step 0",2,1700000224000,1,3,[0,1700000224000,[3,1]],false]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000waitstep 1', 2, '2-00000000-0000-7000-8000-000000000000', 'wait', 'step 1', 3, 'closed', 1, 1700000224000, 1700000224000, '["2-00000000-0000-7000-8000-000000000000\u001fwait\u001fstep 1","2-00000000-0000-7000-8000-000000000000",4,"step 1",3,1700000224000,1,0,[4,1700000224000,0,"ann","reject"],["custom:größer",false,5,[[1,false,1,0,false,[],["@go"],1,[]]],["@go"],false,5000,0,[2],2,0]]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000callstep 2', 2, '2-00000000-0000-7000-8000-000000000000', 'call', 'step 2', 4, 'completed', 1, 1700000293000, 1700000293000, '["2-00000000-0000-7000-8000-000000000000\u001fcall\u001fstep 2","2-00000000-0000-7000-8000-000000000000",0,"step 2",4,1700000293000,1,2,[0,1700000293000,[2,1]],false]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000waitpointdoor', 2, '2-00000000-0000-7000-8000-000000000000', 'waitpoint', 'door', 5, 'completed', 1, 1700000298000, 1700000298000, '["2-00000000-0000-7000-8000-000000000000\u001fwaitpoint\u001fdoor","2-00000000-0000-7000-8000-000000000000",2,"door",5,1700000298000,1,0,[0,1700000298000,false],false]');
INSERT INTO recorded_schema.step VALUES ('2-00000000-0000-7000-8000-000000000000waitstep 2', 2, '2-00000000-0000-7000-8000-000000000000', 'wait', 'step 2', 6, 'open', 1, 1700000298999, NULL, '["2-00000000-0000-7000-8000-000000000000\u001fwait\u001fstep 2","2-00000000-0000-7000-8000-000000000000",4,"step 2",6,1700000298999,1,0,[3,1700000298999],["custom:größer",1700000328999,1,[[2,false,1,0,false,[],[],0,[]]],[],false,false,0,[],false,0]]');
INSERT INTO recorded_schema.waitpoint VALUES ('1-00000000-0000-7000-8000-000000000013door', 1, '1-00000000-0000-7000-8000-000000000013', 'door', 0, 1700000149999, NULL, NULL, '["1-00000000-0000-7000-8000-000000000013\u001fdoor","1-00000000-0000-7000-8000-000000000013","door",1700000149999,1,1,"key-1",0,0,0,[],false,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('1-00000000-0000-7000-8000-000000000013gate', 1, '1-00000000-0000-7000-8000-000000000013', 'gate', 0, 1700000149999, NULL, NULL, '["1-00000000-0000-7000-8000-000000000013\u001fgate","1-00000000-0000-7000-8000-000000000013","gate",1700000149999,1,1,"key-1",0,0,0,[],false,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('1-00000000-0000-7000-8000-000000000012@größer', 1, '1-00000000-0000-7000-8000-000000000012', '@größer', 1, 1700000151000, NULL, NULL, '["1-00000000-0000-7000-8000-000000000012\u001f@größer","1-00000000-0000-7000-8000-000000000012","@größer",1700000151000,1,1,false,1,1,0,[],1700000151000,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('1-00000000-0000-7000-8000-000000000022door', 1, '1-00000000-0000-7000-8000-000000000022', 'door', 0, 1700000151000, 1700000181001, 'timed_out', '["1-00000000-0000-7000-8000-000000000022\u001fdoor","1-00000000-0000-7000-8000-000000000022","door",1700000151000,1,1,"key-1",0,0,0,[],false,1700000181001,"timed_out","wait\u001fstep 1"]');
INSERT INTO recorded_schema.waitpoint VALUES ('1-00000000-0000-7000-8000-000000000022gate', 1, '1-00000000-0000-7000-8000-000000000022', 'gate', 0, 1700000151000, 1700000181001, 'timed_out', '["1-00000000-0000-7000-8000-000000000022\u001fgate","1-00000000-0000-7000-8000-000000000022","gate",1700000151000,1,1,"key-1",0,0,0,[],false,1700000181001,"timed_out","wait\u001fstep 1"]');
INSERT INTO recorded_schema.waitpoint VALUES ('2-00000000-0000-7000-8000-000000000001@größer', 2, '2-00000000-0000-7000-8000-000000000001', '@größer', 1, 1700000189001, NULL, NULL, '["2-00000000-0000-7000-8000-000000000001\u001f@größer","2-00000000-0000-7000-8000-000000000001","@größer",1700000189001,1,1,false,1,1,0,[],1700000189001,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('2-00000000-0000-7000-8000-000000000000@größer', 2, '2-00000000-0000-7000-8000-000000000000', '@größer', 1, 1700000189001, NULL, NULL, '["2-00000000-0000-7000-8000-000000000000\u001f@größer","2-00000000-0000-7000-8000-000000000000","@größer",1700000189001,1,1,false,1,0,0,[],1700000189001,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('2-00000000-0000-7000-8000-000000000000@go', 2, '2-00000000-0000-7000-8000-000000000000', '@go', 1, 1700000224000, NULL, NULL, '["2-00000000-0000-7000-8000-000000000000\u001f@go","2-00000000-0000-7000-8000-000000000000","@go",1700000224000,1,1,false,1,0,1,[],1700000224000,false,false,false]');
INSERT INTO recorded_schema.waitpoint VALUES ('2-00000000-0000-7000-8000-000000000000door', 2, '2-00000000-0000-7000-8000-000000000000', 'door', 0, 1700000298000, 1700000298000, 'no need', '["2-00000000-0000-7000-8000-000000000000\u001fdoor","2-00000000-0000-7000-8000-000000000000","door",1700000298000,1,1,"key-1",0,0,2,[],false,1700000298000,"no need",false]');
ALTER TABLE ONLY recorded_schema.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (key, partition);
ALTER TABLE ONLY recorded_schema.edge
    ADD CONSTRAINT edge_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (partition, name, score, id);
ALTER TABLE ONLY recorded_schema.event_batch
    ADD CONSTRAINT event_batch_pkey PRIMARY KEY (partition, last_sequence);
ALTER TABLE ONLY recorded_schema.execution
    ADD CONSTRAINT execution_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.flow
    ADD CONSTRAINT flow_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded_schema.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY recorded_schema.partition
    ADD CONSTRAINT partition_name_key UNIQUE (name);
ALTER TABLE ONLY recorded_schema.partition
    ADD CONSTRAINT partition_pkey PRIMARY KEY (number);
ALTER TABLE ONLY recorded_schema.process
    ADD CONSTRAINT process_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded_schema.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.signal
    ADD CONSTRAINT signal_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (id, partition);
ALTER TABLE ONLY recorded_schema.waitpoint
    ADD CONSTRAINT waitpoint_pkey PRIMARY KEY (id, partition);
CREATE INDEX inbox_pending ON recorded_schema.inbox USING btree (partition, id) WHERE (failure IS NULL);
