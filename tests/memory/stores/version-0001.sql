BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE change (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	what VARCHAR(8) NOT NULL, 
	"of" BIGINT NOT NULL
);
CREATE TABLE edge (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(36) NOT NULL, 
	source INTEGER NOT NULL, 
	target INTEGER NOT NULL, 
	relation VARCHAR(40) NOT NULL, 
	weight FLOAT NOT NULL, 
	detection VARCHAR(40) DEFAULT '' NOT NULL, 
	created_at BIGINT DEFAULT '0' NOT NULL, 
	FOREIGN KEY(source) REFERENCES note (number) ON DELETE CASCADE, 
	FOREIGN KEY(target) REFERENCES note (number) ON DELETE CASCADE, 
	UNIQUE (id), 
	UNIQUE (source, target, relation)
);
CREATE TABLE label (
	note INTEGER NOT NULL, 
	label VARCHAR(64) NOT NULL, 
	place INTEGER NOT NULL, 
	PRIMARY KEY (note, label), 
	FOREIGN KEY(note) REFERENCES note (number) ON DELETE CASCADE
);
CREATE TABLE note (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(36) NOT NULL, 
	kind VARCHAR(40) DEFAULT '' NOT NULL, 
	obs_type VARCHAR(40) DEFAULT '' NOT NULL, 
	memory_type VARCHAR(40) DEFAULT '' NOT NULL, 
	title VARCHAR(256) NOT NULL, 
	subtitle VARCHAR(256) DEFAULT '' NOT NULL, 
	body TEXT DEFAULT '' NOT NULL, 
	facts JSON NOT NULL, 
	metadata JSON NOT NULL, 
	project VARCHAR(64) DEFAULT '' NOT NULL, 
	scope VARCHAR(8) DEFAULT '' NOT NULL, 
	importance FLOAT NOT NULL, 
	relevance FLOAT NOT NULL, 
	state VARCHAR(12) DEFAULT '' NOT NULL, 
	superseded_by BIGINT DEFAULT '0' NOT NULL, 
	occurred_at BIGINT DEFAULT '0' NOT NULL, 
	valid_until BIGINT DEFAULT '0' NOT NULL, 
	created_at BIGINT DEFAULT '0' NOT NULL, 
	updated_at BIGINT DEFAULT '0' NOT NULL, 
	used_at BIGINT DEFAULT '0' NOT NULL, 
	use_count INTEGER DEFAULT '0' NOT NULL, 
	shown_count INTEGER DEFAULT '0' NOT NULL, 
	agent VARCHAR(128) DEFAULT '' NOT NULL, 
	session VARCHAR(128) DEFAULT '' NOT NULL, 
	channel VARCHAR(16) DEFAULT '' NOT NULL, 
	trust VARCHAR(8) DEFAULT '' NOT NULL, 
	same VARCHAR(32) DEFAULT '' NOT NULL, 
	UNIQUE (id)
);
INSERT INTO "note" VALUES(1,'0190aaaa-0000-7000-8000-000000000001','fact','','','The oldest','','','[]','{}','','',0.5,0.5,'active',0,0,0,1,0,0,0,0,'','','','','');
CREATE TABLE note_file (
	note INTEGER NOT NULL, 
	path VARCHAR(1024) NOT NULL, 
	place INTEGER NOT NULL, 
	PRIMARY KEY (note, path), 
	FOREIGN KEY(note) REFERENCES note (number) ON DELETE CASCADE
);
INSERT INTO "note_file" VALUES(1,'a/b.py',0);
CREATE TABLE operation (
	id VARCHAR(64) NOT NULL, 
	payload VARCHAR(64) NOT NULL, 
	reply JSON NOT NULL, 
	created_at BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE revision (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	note INTEGER NOT NULL, 
	held JSON NOT NULL, 
	until BIGINT DEFAULT '0' NOT NULL, 
	FOREIGN KEY(note) REFERENCES note (number) ON DELETE CASCADE
);
CREATE INDEX note_by_project ON note (project, state);
CREATE INDEX note_by_same ON note (same);
CREATE INDEX operation_by_time ON operation (created_at);
CREATE INDEX edge_by_target ON edge (target);
CREATE INDEX label_by_label ON label (label);
CREATE INDEX note_file_by_path ON note_file (path);
CREATE INDEX revision_by_note ON revision (note);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('note',1);
COMMIT;
