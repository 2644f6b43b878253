BEGIN TRANSACTION;
CREATE TABLE events (
            revision INTEGER PRIMARY KEY AUTOINCREMENT, page INTEGER NOT NULL REFERENCES pages,
            annotator TEXT NOT NULL, by TEXT NOT NULL, action TEXT NOT NULL, time TEXT NOT NULL,
            of INTEGER REFERENCES events, changes TEXT NOT NULL
        ) STRICT;
INSERT INTO "events" VALUES(1,1,'Ada','Ada','set','2026-11-18T20:58:46.604Z',NULL,'[[1,"3a78695388b3-1-0a3a",null,[false,"paragraph"]],[1,"69752f2313b2-1-91b7",null,[false,"paragraph"]],[1,"5bf99d07a3e4-1-0e04",null,[true,"heading"]],[1,"1c885b52560a-1-2f18",null,[true,"paragraph"]],[1,"c42da48c46eb-1-e98f",null,[true,"paragraph"]],[1,"d6db3c85c78c-1-718c",null,[true,"list"]],[1,"da8f59989f0c-1-f1a3",null,[true,"list"]],[1,"29887a5ff984-1-75ff",null,[false,"paragraph"]],[1,"60b1928b6bdf-1-1359",null,[false,"comment"]],[1,"29887a5ff984-2-52c2",null,[false,"paragraph"]],[1,"c978047409c1-1-f1ee",null,[false,"paragraph"]]]');
INSERT INTO "events" VALUES(2,1,'Ada','Ada','set','2026-11-18T20:58:46.607Z',NULL,'[[1,"1c885b52560a-1-2f18",[true,"paragraph"],[false,"paragraph"]]]');
INSERT INTO "events" VALUES(3,1,'Ada','Ada','undo','2026-11-18T20:58:46.608Z',2,'[[1,"1c885b52560a-1-2f18",[false,"paragraph"],[true,"paragraph"]]]');
INSERT INTO "events" VALUES(4,1,'Ada','Ada','done','2026-11-18T20:58:46.611Z',NULL,'[]');
INSERT INTO "events" VALUES(5,1,'Bea','Bea','set','2026-11-18T20:58:46.612Z',NULL,'[[1,"3a78695388b3-1-0a3a",null,[false,"paragraph"]],[1,"69752f2313b2-1-91b7",null,[false,"paragraph"]],[1,"5bf99d07a3e4-1-0e04",null,[true,"heading"]],[1,"1c885b52560a-1-2f18",null,[false,"paragraph"]],[1,"c42da48c46eb-1-e98f",null,[true,"paragraph"]],[1,"d6db3c85c78c-1-718c",null,[true,"list"]],[1,"da8f59989f0c-1-f1a3",null,[true,"list"]],[1,"29887a5ff984-1-75ff",null,[false,"paragraph"]],[1,"60b1928b6bdf-1-1359",null,[false,"comment"]],[1,"29887a5ff984-2-52c2",null,[false,"paragraph"]],[1,"c978047409c1-1-f1ee",null,[false,"paragraph"]]]');
CREATE TABLE labels (
            page INTEGER NOT NULL REFERENCES pages, annotator TEXT NOT NULL,
            segmentation INTEGER NOT NULL REFERENCES segmentations, ref TEXT NOT NULL,
            kept INTEGER NOT NULL CHECK (kept IN (0, 1)), kind TEXT NOT NULL,
            PRIMARY KEY (page, annotator, segmentation, ref)
        ) STRICT, WITHOUT ROWID;
INSERT INTO "labels" VALUES(1,'Ada',1,'1c885b52560a-1-2f18',1,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'1c885b52560a-1-2f18',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'29887a5ff984-1-75ff',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'29887a5ff984-1-75ff',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'29887a5ff984-2-52c2',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'29887a5ff984-2-52c2',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'3a78695388b3-1-0a3a',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'3a78695388b3-1-0a3a',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'5bf99d07a3e4-1-0e04',1,'heading');
INSERT INTO "labels" VALUES(1,'Bea',1,'5bf99d07a3e4-1-0e04',1,'heading');
INSERT INTO "labels" VALUES(1,'Ada',1,'60b1928b6bdf-1-1359',0,'comment');
INSERT INTO "labels" VALUES(1,'Bea',1,'60b1928b6bdf-1-1359',0,'comment');
INSERT INTO "labels" VALUES(1,'Ada',1,'69752f2313b2-1-91b7',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'69752f2313b2-1-91b7',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'c42da48c46eb-1-e98f',1,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'c42da48c46eb-1-e98f',1,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'c978047409c1-1-f1ee',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Bea',1,'c978047409c1-1-f1ee',0,'paragraph');
INSERT INTO "labels" VALUES(1,'Ada',1,'d6db3c85c78c-1-718c',1,'list');
INSERT INTO "labels" VALUES(1,'Bea',1,'d6db3c85c78c-1-718c',1,'list');
INSERT INTO "labels" VALUES(1,'Ada',1,'da8f59989f0c-1-f1a3',1,'list');
INSERT INTO "labels" VALUES(1,'Bea',1,'da8f59989f0c-1-f1a3',1,'list');
CREATE TABLE pages (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, is_text INTEGER NOT NULL, url TEXT, name TEXT NOT NULL,
            charset TEXT, format TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, blocks INTEGER NOT NULL,
            note TEXT NOT NULL, page_type TEXT, lang TEXT, added TEXT NOT NULL, html BLOB NOT NULL
        , lines_are_blocks INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "pages" VALUES(1,'6c9db6218bb7e447db35552a8fe1c46303dd69307f6e1069aac786809830aecb http://mill.example/otters',1,'http://mill.example/otters','otters.html',NULL,'html','a test','6c9db6218bb7e447db35552a8fe1c46303dd69307f6e1069aac786809830aecb',11,'',NULL,NULL,'2026-11-18T20:58:46.600Z',X'3C68746D6C3E3C686561643E3C7469746C653E4F74746572733C2F7469746C653E3C2F686561643E3C626F64793E3C756C3E3C6C693E3C6120687265663D2F3E486F6D653C2F613E3C2F6C693E3C6C693E3C6120687265663D2F6E6577733E4E6577733C2F613E3C2F6C693E3C2F756C3E3C68313E4F747465727320617265206261636B3C2F68313E3C703E546865206F74746572732077657265207365656E20617420746865206F6C64206D696C6C20616761696E2C207468726565206F66207468656D2C206F6E206120636F6C64206D6F726E696E6720696E204D617263682E3C2F703E3C703E4E6F626F64792068616420657870656374656420746861742C20666F722074686520726976657220686164206265656E20656D7074792073696E6365207468652064616D20776173206275696C7420757073747265616D2E3C2F703E3C756C3E3C6C693E4669736820617265206261636B2C20746F6F2E3C2F6C693E3C6C693E536F2061726520746865206865726F6E732E3C2F6C693E3C2F756C3E3C703E53686172653C2F703E3C703E416E6E6120736179733A20686F77206C6F76656C7920746F2072656164206F66207468656D206F6E6365206D6F7265213C2F703E3C703E53686172653C2F703E3C703EC2A9203230323620546865204D696C6C2047617A657474653C2F703E3C2F626F64793E3C2F68746D6C3E',0);
CREATE TABLE segmentations (
            id INTEGER PRIMARY KEY, page INTEGER NOT NULL REFERENCES pages, digest TEXT NOT NULL,
            blocks TEXT NOT NULL, made TEXT NOT NULL, UNIQUE (page, digest)
        ) STRICT;
INSERT INTO "segmentations" VALUES(1,1,'16f8557ad1ee6ec17656ca5932a63e98098f748198c2d209119daa960ed19df7','[["3a78695388b3-1-0a3a","Home","list-item","/html[1]/body[1]/ul[1]/li[1]"],["69752f2313b2-1-91b7","News","list-item","/html[1]/body[1]/ul[1]/li[2]"],["5bf99d07a3e4-1-0e04","Otters are back","heading","/html[1]/body[1]/h1[1]"],["1c885b52560a-1-2f18","The otters were seen at the old mill again, three of them, on a cold morning in March.","paragraph","/html[1]/body[1]/p[1]"],["c42da48c46eb-1-e98f","Nobody had expected that, for the river had been empty since the dam was built upstream.","paragraph","/html[1]/body[1]/p[2]"],["d6db3c85c78c-1-718c","Fish are back, too.","list-item","/html[1]/body[1]/ul[2]/li[1]"],["da8f59989f0c-1-f1a3","So are the herons.","list-item","/html[1]/body[1]/ul[2]/li[2]"],["29887a5ff984-1-75ff","Share","paragraph","/html[1]/body[1]/p[3]"],["60b1928b6bdf-1-1359","Anna says: how lovely to read of them once more!","paragraph","/html[1]/body[1]/p[4]"],["29887a5ff984-2-52c2","Share","paragraph","/html[1]/body[1]/p[5]"],["c978047409c1-1-f1ee","\u00a9 2026 The Mill Gazette","paragraph","/html[1]/body[1]/p[6]"]]','2026-11-18T20:58:46.604Z');
CREATE TABLE work (
            page INTEGER NOT NULL REFERENCES pages, annotator TEXT NOT NULL,
            done INTEGER NOT NULL CHECK (done IN (0, 1)), revision INTEGER NOT NULL REFERENCES events,
            PRIMARY KEY (page, annotator)
        ) STRICT, WITHOUT ROWID;
INSERT INTO "work" VALUES(1,'Ada',1,4);
INSERT INTO "work" VALUES(1,'Bea',0,5);
CREATE INDEX labels_of_block ON labels (page, ref, annotator, kept, kind);
CREATE INDEX events_of_page ON events (page, annotator);
CREATE TRIGGER events_stay BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END;
CREATE TRIGGER events_are_never_lost BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',5);
COMMIT;
PRAGMA application_id = 1835884910;
PRAGMA user_version = 2;
